import type { Logger } from 'pino';
import type { ClaimedRecipient } from '../../db/campaigns/claims.ts';
import { completeDeferred, completeSent, findCompleted } from '../../db/campaigns/completions.ts';
import type { Db } from '../../db/connection.ts';
import type { EmailProviderKind } from '../../rules/emails/email-providers.ts';
import { describeFailure } from '../../rules/failure-text.ts';
import type { SampledLog } from '../../rules/sampled-log.ts';
import type { HoldGuard } from '../hold-guard.ts';
import { logMessageEnd } from '../message-end.ts';
import { type Persistence, retryPersistently } from '../persistently.ts';

/**
 * The number of results that share a commit. It is below half of the limit of emails in flight, so that other emails
 * are sent during the commit. A larger number costs less for each row (docs/decisions.md).
 */
const BATCH_ROWS = 30;
/** How long a result waits for others to share its commit. */
const BATCH_MS = 20;
/**
 * A sent email must be recorded, or it is sent again. While Postgres is unreachable, the commit is retried at this
 * interval, and the limit of emails in flight prevents further sends. After the last retry, the turn fails and its rows
 * are claimed again.
 */
const RETRY_WAITS_MS = Array.from({ length: 1_200 }, () => 500);

/** The turn that sent the emails of a batch. */
export interface RecordOwner {
  readonly projectId: string;
  /** Called when the result of this many emails is certain: they are committed, or belong to another attempt. */
  recorded(emails: number): void;
  /**
   * Called when an email was not recorded, because an automation or webhook has started to wait for `email.sent`. The
   * turn must then record it with all its consequences.
   */
  wanted(recipient: ClaimedRecipient, providerId: string | null): void;
  /** Called when another attempt owns the emails now, or when they could not be recorded. The turn must stop. */
  lost(error: Error | null): void;
}

export interface CampaignRecorder {
  sent(owner: RecordOwner, email: { recipient: ClaimedRecipient; claim: number; providerId: string | null }): void;
  deferred(owner: RecordOwner, email: { recipient: ClaimedRecipient; claim: number; error: string }): void;
  /** Starts the commit without waiting for more results. Called when no more results are expected for now. */
  flush(): void;
}

interface Answer {
  owner: RecordOwner;
  recipient: ClaimedRecipient;
  claim: number;
  providerId: string | null;
  /** Undefined for an email that the provider accepted. */
  error: string | undefined;
}

/** Records the results of all lanes of a process together, one commit at a time. */
export function createCampaignRecorder(deps: {
  db: Db;
  log: Pick<Logger, 'warn'>;
  guard: Pick<HoldGuard, 'accepted'>;
  ends: SampledLog;
  /** The kind of the provider. */
  source: EmailProviderKind;
}): CampaignRecorder {
  const persistence: Persistence = {
    waitsMs: RETRY_WAITS_MS,
    passes: () => true,
    onFirstFailure: (error) =>
      deps.log.warn(
        { reason: describeFailure(error) },
        'sent campaign emails could not be recorded; this will be retried',
      ),
  };
  let queue: Answer[] = [];
  let timer: NodeJS.Timeout | undefined;
  let running = false;
  let hurry = false;

  function add(answer: Answer): void {
    queue.push(answer);
    if (running) return;
    if (queue.length >= BATCH_ROWS || hurry) run();
    else timer ??= setTimeout(run, BATCH_MS);
  }

  function run(): void {
    clearTimeout(timer);
    timer = undefined;
    if (running || queue.length === 0) return;
    const batch = queue;
    queue = [];
    running = true;
    void record(batch).finally(() => {
      running = false;
      if (queue.length >= BATCH_ROWS || (hurry && queue.length > 0)) run();
      else {
        hurry = false;
        if (queue.length > 0) timer ??= setTimeout(run, BATCH_MS);
      }
    });
  }

  async function record(batch: Answer[]): Promise<void> {
    // Sorted by id, so that two processes lock rows in the same order.
    batch.sort((a, b) => (a.recipient.id < b.recipient.id ? -1 : 1));
    let failure: Error | null = null;
    let result: Recorded = { missing: NONE, listening: [] };
    try {
      result = await retryPersistently(() => complete(deps, batch), persistence);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
    for (const [owner, answers] of groupByOwner(batch)) {
      const isWanted = result.listening.includes(owner.projectId);
      const wanted = isWanted ? answers.filter((answer) => answer.error === undefined) : [];
      owner.recorded(answers.length - wanted.length);
      if (failure || answers.some((answer) => result.missing.has(answer.recipient.id))) owner.lost(failure);
      for (const { recipient, providerId } of wanted) owner.wanted(recipient, providerId);
      if (!failure && !isWanted) reportSent(deps.ends, { owner, answers, missing: result.missing });
    }
  }

  return {
    sent: (owner, email) => add({ ...email, owner, error: undefined }),
    deferred: (owner, email) => add({ ...email, owner, providerId: null }),
    flush() {
      hurry = true;
      run();
    },
  };
}

/** Logs the emails that were sent. The settler logs emails that an automation or webhook waits for. */
function reportSent(
  ends: SampledLog,
  { owner, answers, missing }: { owner: RecordOwner; answers: Answer[]; missing: ReadonlySet<string> },
): void {
  const { projectId } = owner;
  for (const { recipient, error } of answers) {
    if (error !== undefined || missing.has(recipient.id)) continue;
    logMessageEnd(ends, { projectId, kind: 'email', id: recipient.id, outcome: 'sent', reason: null });
  }
}

interface Recorded {
  /** Ids of emails that belong to another attempt. */
  missing: ReadonlySet<string>;
  /** Projects in which an automation or webhook waits for `email.sent`. Their sent emails are not recorded yet. */
  listening: string[];
}
const NONE: ReadonlySet<string> = new Set();

/** Records a batch. Safe to run twice: if the result of a commit is unknown, reads whether its rows were recorded. */
async function complete(
  { db, guard, source }: { db: Db; guard: Pick<HoldGuard, 'accepted'>; source: EmailProviderKind },
  batch: Answer[],
): Promise<Recorded> {
  const sent = batch.filter((answer) => answer.error === undefined);
  const deferred = batch.filter((answer) => answer.error !== undefined);
  const projectIds = [...new Set(sent.map(({ owner }) => owner.projectId))];
  const none = { counted: 0, watched: false, listening: [] as string[] };
  const completed = sent.length > 0 ? await completeSent(db, { ...columnsOf(sent), source, projectIds }) : none;
  const { listening } = completed;
  const isOurs = (answer: Answer) => answer.error !== undefined || !listening.includes(answer.owner.projectId);
  const ours = listening.length === 0 ? batch : batch.filter(isOurs);
  if (completed.watched) guard.accepted(ours.filter((a) => a.error === undefined).map((a) => a.recipient.id));
  const putOff = deferred.map(({ recipient, claim, error }) => ({ id: recipient.id, claim, error: error ?? '' }));
  const counted = completed.counted + (await completeDeferred(db, putOff));
  if (counted === ours.length) return { missing: NONE, listening };
  const done = await findCompleted(db, columnsOf(ours));
  return { missing: new Set(ours.map(({ recipient }) => recipient.id).filter((id) => !done.has(id))), listening };
}

function columnsOf(answers: Answer[]) {
  return {
    ids: answers.map((answer) => answer.recipient.id),
    claims: answers.map((answer) => answer.claim),
    providerIds: answers.map((answer) => answer.providerId),
  };
}

function groupByOwner(batch: Answer[]): Map<RecordOwner, Answer[]> {
  const owners = new Map<RecordOwner, Answer[]>();
  for (const answer of batch) {
    const answers = owners.get(answer.owner);
    if (answers) answers.push(answer);
    else owners.set(answer.owner, [answer]);
  }
  return owners;
}
