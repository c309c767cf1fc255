import type { Logger } from 'pino';
import type { ClaimedRecipient } from '../../db/campaigns/claims.ts';
import { findCompletedEmails, recordSentEmails, requeueDeferredEmails } from '../../db/campaigns/completions.ts';
import type { Db } from '../../db/connection.ts';
import type { EmailProviderKind } from '../../rules/emails/email-providers.ts';
import { describeFailure } from '../../rules/failure-text.ts';
import type { SampledLog } from '../../rules/sampled-log.ts';
import type { HoldGuard } from '../hold-guard.ts';
import { logMessageEnd } from '../message-end.ts';
import { type Persistence, retryPersistently } from '../persistently.ts';

/**
 * A commit starts as soon as this many results wait for it. The number is below half of the limit of emails in flight,
 * so that other emails are sent during the commit. A larger number would cost less for each row (docs/decisions.md).
 */
const BATCH_ROWS = 30;
/** How long a result waits for other results that share its commit. */
const BATCH_MS = 20;
/**
 * The waits before the retries of a commit: 1,200 times 500 ms, which is ten minutes. A sent email that is not recorded
 * is sent again, so the recorder retries for a long time while Postgres is unreachable. Meanwhile the limit of emails
 * in flight prevents further sends. After the last retry, the recorder gives up. The turn that sent the emails fails,
 * and a later turn claims and sends these emails again.
 */
const RETRY_WAITS_MS = Array.from({ length: 1_200 }, () => 500);

/**
 * A turn: one call that sends emails of a chunk for a limited time. The recorder notifies the turn when the results of
 * these emails are recorded, or cannot be recorded.
 */
export interface RecordOwner {
  readonly projectId: string;
  /**
   * Called when the recorder has finished with this many emails: their results are committed, another attempt has
   * claimed the emails, or the recorder has given up (`onLost` follows).
   */
  onRecorded(emails: number): void;
  /**
   * Called when the recorder did not record an email, because an automation or webhook has started to wait for
   * `email.sent`. The turn must then record the email through the settler (activities/emails/settler.ts), which also
   * records the event `email.sent`.
   */
  onListenerFound(recipient: ClaimedRecipient, providerId: string | null): void;
  /**
   * Called when another attempt has claimed some of the turn's emails (`error` is null), or when the results could not
   * be recorded. The turn must stop.
   */
  onLost(error: Error | null): void;
}

export interface CampaignRecorder {
  recordSent(
    owner: RecordOwner,
    email: { recipient: ClaimedRecipient; claim: number; providerId: string | null },
  ): void;
  recordDeferred(owner: RecordOwner, email: { recipient: ClaimedRecipient; claim: number; error: string }): void;
  /**
   * Makes the recorder commit without waiting for a full batch, until no result waits. Called at the end of a turn,
   * which submits no more emails.
   */
  flush(): void;
}

interface ProviderReply {
  owner: RecordOwner;
  recipient: ClaimedRecipient;
  claim: number;
  providerId: string | null;
  /** The provider's reply if the provider deferred the email. Undefined if the provider accepted the email. */
  error: string | undefined;
}

/**
 * Creates the recorder of a process. The recorder writes the results of all concurrent turns together, one commit at a
 * time.
 */
export function createCampaignRecorder(deps: {
  db: Db;
  log: Pick<Logger, 'warn'>;
  guard: Pick<HoldGuard, 'reportAccepted'>;
  endLog: SampledLog;
  /** The kind of the provider. */
  source: EmailProviderKind;
}): CampaignRecorder {
  const persistence: Persistence = {
    waitsMs: RETRY_WAITS_MS,
    isRetryable: () => true,
    onFirstFailure: (error) =>
      deps.log.warn(
        { reason: describeFailure(error) },
        'sent campaign emails could not be recorded; this will be retried',
      ),
  };
  let queue: ProviderReply[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isCommitting = false;
  let isFlushing = false;

  function addReply(reply: ProviderReply): void {
    queue.push(reply);
    if (isCommitting) return;
    if (queue.length >= BATCH_ROWS || isFlushing) startBatch();
    else timer ??= setTimeout(startBatch, BATCH_MS);
  }

  function startBatch(): void {
    clearTimeout(timer);
    timer = undefined;
    if (isCommitting || queue.length === 0) return;
    const batch = queue;
    queue = [];
    isCommitting = true;
    void recordAndReport(batch).finally(() => {
      isCommitting = false;
      if (queue.length >= BATCH_ROWS || (isFlushing && queue.length > 0)) startBatch();
      else {
        isFlushing = false;
        if (queue.length > 0) timer ??= setTimeout(startBatch, BATCH_MS);
      }
    });
  }

  async function recordAndReport(batch: ProviderReply[]): Promise<void> {
    // Sorted by id, so that two processes lock rows in the same order.
    batch.sort((a, b) => (a.recipient.id < b.recipient.id ? -1 : 1));
    let failure: Error | null = null;
    let result: BatchResult = { missing: NO_IDS, listening: [] };
    try {
      result = await retryPersistently(() => recordBatch(deps, batch), persistence);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
    for (const [owner, replies] of groupByOwner(batch)) {
      const mustSettle = result.listening.includes(owner.projectId);
      const toSettle = mustSettle ? replies.filter((reply) => reply.error === undefined) : [];
      owner.onRecorded(replies.length - toSettle.length);
      if (failure || replies.some((reply) => result.missing.has(reply.recipient.id))) owner.onLost(failure);
      for (const { recipient, providerId } of toSettle) owner.onListenerFound(recipient, providerId);
      if (!failure && !mustSettle) reportSent(deps.endLog, { owner, replies, missing: result.missing });
    }
  }

  return {
    recordSent: (owner, email) => addReply({ ...email, owner, error: undefined }),
    recordDeferred: (owner, email) => addReply({ ...email, owner, providerId: null }),
    flush() {
      isFlushing = true;
      startBatch();
    },
  };
}

/**
 * Logs the emails that the provider accepted. If `email.sent` has listeners, the settler logs the emails instead.
 */
function reportSent(
  endLog: SampledLog,
  { owner, replies, missing }: { owner: RecordOwner; replies: ProviderReply[]; missing: ReadonlySet<string> },
): void {
  const { projectId } = owner;
  for (const { recipient, error } of replies) {
    if (error !== undefined || missing.has(recipient.id)) continue;
    logMessageEnd(endLog, { projectId, kind: 'email', id: recipient.id, outcome: 'sent', reason: null });
  }
}

interface BatchResult {
  /** The ids of emails that were not recorded, because another attempt has claimed them. */
  missing: ReadonlySet<string>;
  /**
   * The ids of projects in which `email.sent` has listeners (`hasListeners`). The recorder has not recorded their sent
   * emails.
   */
  listening: string[];
}
const NO_IDS: ReadonlySet<string> = new Set();

/**
 * Records a batch. May run again after a commit whose confirmation was lost. `findCompletedEmails` then finds the rows
 * that are already recorded.
 */
async function recordBatch(
  { db, guard, source }: { db: Db; guard: Pick<HoldGuard, 'reportAccepted'>; source: EmailProviderKind },
  batch: ProviderReply[],
): Promise<BatchResult> {
  const sent = batch.filter((reply) => reply.error === undefined);
  const deferred = batch.filter((reply) => reply.error !== undefined);
  const projectIds = [...new Set(sent.map(({ owner }) => owner.projectId))];
  const none = { counted: 0, watched: false, listening: [] as string[] };
  const completed = sent.length > 0 ? await recordSentEmails(db, { ...toColumns(sent), source, projectIds }) : none;
  const { listening } = completed;
  const wasRecorded = (reply: ProviderReply) => reply.error !== undefined || !listening.includes(reply.owner.projectId);
  const recordedReplies = listening.length === 0 ? batch : batch.filter(wasRecorded);
  if (completed.watched)
    guard.reportAccepted(recordedReplies.filter((a) => a.error === undefined).map((a) => a.recipient.id));
  const deferredEmails = deferred.map(({ recipient, claim, error }) => ({
    id: recipient.id,
    claim,
    error: error ?? '',
  }));
  const counted = completed.counted + (await requeueDeferredEmails(db, deferredEmails));
  if (counted === recordedReplies.length) return { missing: NO_IDS, listening };
  const done = await findCompletedEmails(db, toColumns(recordedReplies));
  return {
    missing: new Set(recordedReplies.map(({ recipient }) => recipient.id).filter((id) => !done.has(id))),
    listening,
  };
}

function toColumns(replies: ProviderReply[]) {
  return {
    ids: replies.map((reply) => reply.recipient.id),
    claims: replies.map((reply) => reply.claim),
    providerIds: replies.map((reply) => reply.providerId),
  };
}

function groupByOwner(batch: ProviderReply[]): Map<RecordOwner, ProviderReply[]> {
  const owners = new Map<RecordOwner, ProviderReply[]>();
  for (const reply of batch) {
    const replies = owners.get(reply.owner);
    if (replies) replies.push(reply);
    else owners.set(reply.owner, [reply]);
  }
  return owners;
}
