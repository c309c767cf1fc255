import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { completeDeferred, completeSent, findCompleted } from '../db/campaign-ledger.ts';
import type { Db } from '../db/connection.ts';
import type { HoldGuard } from './hold-guard.ts';

/** Answers that share a commit: 100 cost half of what 20 cost a row, and 500 hardly less (performance.md §3). */
const BATCH_ROWS = 100;
/** How long a lone answer waits for others. */
const BATCH_MS = 20;
/**
 * A mail that left has to be recorded, or it leaves again: while Postgres is away its commit is tried again this often, and the window
 * keeps more from leaving. After it the lane gives up, and its rows are claimed again.
 */
const RETRY_MS = 500;
const RETRIES_MAX = 1_200;

/** Who is told what became of the records of its mails. */
export interface RecordOwner {
  /** Committed, or known to be another attempt's: out of doubt. */
  recorded(mails: number): void;
  /** Another attempt owns the mails now, or they could not be recorded: stop. */
  lost(error: Error | null): void;
}

export interface CampaignRecorder {
  sent(owner: RecordOwner, mail: { id: string; claim: number; providerId: string | null }): void;
  deferred(owner: RecordOwner, mail: { id: string; claim: number; error: string }): void;
  /** Nothing more is coming for now: do not wait for others. */
  flush(): void;
}

interface Answer {
  owner: RecordOwner;
  id: string;
  claim: number;
  providerId: string | null;
  /** Undefined for a mail that was taken. */
  error: string | undefined;
}

/** Records the answers of all lanes of a process together, one commit under way at a time. */
export function createCampaignRecorder(deps: {
  db: Db;
  log: Pick<Logger, 'warn'>;
  guard: Pick<HoldGuard, 'accepted'>;
  /** The provider. */
  source: string;
}): CampaignRecorder {
  const { log } = deps;
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
    // In the order of their ids, so that two processes lock rows in the same order.
    batch.sort((a, b) => (a.id < b.id ? -1 : 1));
    let failure: Error | null = null;
    let missing: ReadonlySet<string> = new Set();
    try {
      missing = await persistently(() => complete(deps, batch), log);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
    for (const [owner, answers] of byOwner(batch)) {
      owner.recorded(answers.length);
      if (failure || answers.some((answer) => missing.has(answer.id))) owner.lost(failure);
    }
  }

  return {
    sent: (owner, mail) => add({ ...mail, owner, error: undefined }),
    deferred: (owner, mail) => add({ ...mail, owner, providerId: null }),
    flush() {
      hurry = true;
      run();
    },
  };
}

/** Returns the ids that were not ours to complete. Safe to run again: what an unknown commit completed is looked up. */
async function complete(
  { db, guard, source }: { db: Db; guard: Pick<HoldGuard, 'accepted'>; source: string },
  batch: Answer[],
): Promise<ReadonlySet<string>> {
  const sent = batch.filter((answer) => answer.error === undefined);
  const deferred = batch.filter((answer) => answer.error !== undefined);
  let counted = 0;
  if (sent.length > 0) {
    const completed = await completeSent(db, { ...columnsOf(sent), source });
    counted += completed.counted;
    if (completed.watched) guard.accepted(sent.map((answer) => answer.id));
  }
  counted += await completeDeferred(
    db,
    deferred.map(({ id, claim, error }) => ({ id, claim, error: error ?? '' })),
  );
  if (counted === batch.length) return new Set();
  const done = await findCompleted(db, columnsOf(batch));
  return new Set(batch.map((answer) => answer.id).filter((id) => !done.has(id)));
}

function columnsOf(answers: Answer[]) {
  return {
    ids: answers.map((answer) => answer.id),
    claims: answers.map((answer) => answer.claim),
    providerIds: answers.map((answer) => answer.providerId),
  };
}

function byOwner(batch: Answer[]): Map<RecordOwner, Answer[]> {
  const owners = new Map<RecordOwner, Answer[]>();
  for (const answer of batch) {
    const answers = owners.get(answer.owner);
    if (answers) answers.push(answer);
    else owners.set(answer.owner, [answer]);
  }
  return owners;
}

async function persistently<T>(work: () => Promise<T>, log: Pick<Logger, 'warn'>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await work();
    } catch (error) {
      if (tried > RETRIES_MAX) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      if (tried === 1) log.warn({ reason }, 'sent campaign mails could not be recorded; it is tried again');
      await sleep(RETRY_MS);
    }
  }
}
