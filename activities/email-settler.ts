import { setTimeout as sleep } from 'node:timers/promises';
import type { Transaction } from 'kysely';
import type { Db } from '../db/connection.ts';
import { type EmailResult, recordEmailResults } from '../db/email-outcomes.ts';
import type { Database } from '../db/schema.ts';
import { inTransaction } from '../db/transaction.ts';
import type { EmailOutcome } from '../domain/email-outcome.ts';
import type { OutboxRow } from '../domain/outbox.ts';
import type { HoldGuard } from './hold-guard.ts';

/** Results that share a transaction: 100 cost a third of what 20 cost a row (performance.md §3). */
const BATCH_MAX = 100;
/** Transactions of batches at a time: one is built while the other commits. */
const LANES = 2;
/** A mail that left has to be recorded, or it leaves again: while Postgres is away, its commit is tried again this often. */
const RETRY_WAITS_MS = [100, 500, 2_000, 5_000, 10_000];

/** What is done in the transaction that records a mail's result, such as completing the step that sent it. May run again. */
export type SettleHook<T> = (trx: Transaction<Database>, outcome: EmailOutcome) => Promise<T>;

export interface EmailSettler {
  /** Records a result together with others; resolves after the commit. False: fenced off, another attempt has the mail. */
  settle(result: EmailResult): Promise<boolean>;
  /** Records a result and runs the hook in the same transaction; the hook does not run when it was fenced off. */
  settleWith<T>(result: EmailResult, hook: SettleHook<T>): Promise<{ recorded: boolean; value?: T }>;
}

interface Waiting {
  result: EmailResult;
  resolve: (recorded: boolean) => void;
  reject: (error: unknown) => void;
}

/** Records results as they come, without a timer: what comes while a transaction runs goes with the next one. */
export function createEmailSettler(deps: {
  db: Db;
  suppressionKey: Buffer;
  /** Named in suppression entries: the provider. */
  source: string;
  dispatch: (rows: OutboxRow[]) => void;
  guard: Pick<HoldGuard, 'accepted'>;
}): EmailSettler {
  const queues = new Map<string, Waiting[]>();
  let running = 0;

  function record(trx: Transaction<Database>, projectId: string, results: EmailResult[]) {
    return recordEmailResults(trx, { projectId, results, suppressionKey: deps.suppressionKey, source: deps.source });
  }

  /** Once it is committed: the hold guard counts what a watched mailbox provider takes. */
  function tellGuard(recorded: Set<string>, watched: boolean, results: EmailResult[]): void {
    if (!watched) return;
    const sent = results.filter(({ email, outcome }) => outcome.kind === 'sent' && recorded.has(email.id));
    deps.guard.accepted(sent.map(({ email }) => email.id));
  }

  function pump(): void {
    while (running < LANES) {
      const entry = queues.entries().next().value;
      if (!entry) return;
      const [projectId, queue] = entry;
      const batch = queue.splice(0, BATCH_MAX);
      queues.delete(projectId);
      // What is left goes to the end, so that projects take turns.
      if (queue.length > 0) queues.set(projectId, queue);
      running += 1;
      void flush(projectId, batch).finally(() => {
        running -= 1;
        pump();
      });
    }
  }

  async function flush(projectId: string, batch: Waiting[]): Promise<void> {
    const results = batch.map((waiting) => waiting.result);
    try {
      const { recorded, outbox, watched } = await persistently(() =>
        inTransaction(deps.db, (trx) => record(trx, projectId, results)),
      );
      deps.dispatch(outbox);
      tellGuard(recorded, watched, results);
      for (const { result, resolve } of batch) resolve(recorded.has(result.email.id));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return {
    settle(result) {
      const { projectId } = result.email;
      return new Promise((resolve, reject) => {
        const queue = queues.get(projectId);
        if (queue) queue.push({ result, resolve, reject });
        else queues.set(projectId, [{ result, resolve, reject }]);
        pump();
      });
    },
    async settleWith(result, hook) {
      const done = await persistently(() =>
        inTransaction(deps.db, async (trx) => {
          const { recorded, outbox, watched } = await record(trx, result.email.projectId, [result]);
          if (!recorded.has(result.email.id)) return { recorded: false, outbox, watched };
          return { recorded: true, outbox, watched, value: await hook(trx, result.outcome) };
        }),
      );
      deps.dispatch(done.outbox);
      if (done.recorded) tellGuard(new Set([result.email.id]), done.watched, [result]);
      return done;
    },
  };
}

/** Tries again while the connection is what failed. Safe: a commit whose answer was lost is fenced off by the claim number. */
async function persistently<T>(work: () => Promise<T>): Promise<T> {
  for (const waitMs of RETRY_WAITS_MS) {
    try {
      return await work();
    } catch (error) {
      if (!isConnectionFailure(error)) throw error;
      await sleep(waitMs);
    }
  }
  return work();
}

/** Class 08 and 57P of SQLSTATE, and what the driver says of a socket that broke or could not be had. */
function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return (
    /^(08|57P|ECONN|EPIPE|ETIMEDOUT)/.test(code) ||
    /connection (terminated|timeout|ended)|timeout exceeded/i.test(error.message)
  );
}
