import { type AcceptedSends, acceptSends, type SendOutcome } from '../db/accept-sends.ts';
import type { Db } from '../db/connection.ts';
import { inTransaction } from '../db/transaction.ts';
import { AppError } from '../domain/errors.ts';
import type { OutboxRow } from '../domain/outbox.ts';
import type { SendAnswer, SendRequest } from '../domain/send-request.ts';

/** Transactions at a time: one is built while the other commits; a third brought nothing (performance.md §5). */
const LANES = 2;
/** Requests that share a transaction at most. */
const BATCH_MAX = 64;
/** A batch with files stays small: what is in memory and in one statement is bounded. */
const BATCH_MAX_BYTES = 20 * 1024 * 1024;
/** Waiting requests looked at for a batch; the others keep their turn. */
const LOOK_AHEAD = 256;

export interface SendAcceptor {
  /** Accepts a request durably. @throws AppError by which it is refused; then it had no effect at all */
  accept(request: SendRequest): Promise<SendAnswer>;
}

interface Waiting {
  request: SendRequest;
  resolve: (answer: SendAnswer) => void;
  reject: (error: unknown) => void;
}

/**
 * Group commit without a timer: what came in while the last transaction ran goes together into the next, so a lone request is as fast as
 * alone and a busy process pays for one commit what others pay for each. Each caller gets an answer or a refusal of its own.
 */
export function createSendAcceptor(deps: {
  db: Db;
  suppressionKey: Buffer;
  dispatch: (rows: OutboxRow[]) => void;
}): SendAcceptor {
  const waiting: Waiting[] = [];
  let running = 0;

  function pump(): void {
    while (running < LANES && waiting.length > 0) {
      const batch = takeBatch(waiting);
      running += 1;
      void run(batch).finally(() => {
        running -= 1;
        pump();
      });
    }
  }

  function commit(requests: SendRequest[]): Promise<AcceptedSends> {
    return inTransaction(deps.db, (trx) => acceptSends(trx, requests, { suppressionKey: deps.suppressionKey }));
  }

  async function run(batch: Waiting[]): Promise<void> {
    try {
      const { outcomes, outbox } = await commit(batch.map(({ request }) => request));
      deps.dispatch(outbox);
      for (const [index, { resolve, reject }] of batch.entries()) settle(outcomes[index], resolve, reject);
    } catch (error) {
      // One of them made the transaction fail, and nothing of the batch is left: alone, only that one fails.
      if (batch.length > 1 && isOfOneRequest(error)) for (const item of batch) await run([item]);
      else for (const { reject } of batch) reject(error);
    }
  }

  return {
    accept(request) {
      return new Promise((resolve, reject) => {
        waiting.push({ request, resolve, reject });
        pump();
      });
    },
  };
}

/** A refusal, or what Postgres says of data, constraints, deadlocks and limits; where it is away, it is so for every request. */
function isOfOneRequest(error: unknown): boolean {
  return (
    error instanceof AppError ||
    (error instanceof Error && 'code' in error && /^(22|23|40|54)/.test(String(error.code)))
  );
}

function settle(outcome: SendOutcome | undefined, resolve: Waiting['resolve'], reject: Waiting['reject']): void {
  if (outcome?.outcome === 'accepted') resolve(outcome.answer);
  else reject(outcome?.error ?? new Error('a batch gave no outcome'));
}

/**
 * Takes the next batch off the queue. Two requests with one idempotency key, or that would change a contact differently, do not go
 * together: each has to see what the other left.
 */
function takeBatch(waiting: Waiting[]): Waiting[] {
  const batch: Waiting[] = [];
  const left: Waiting[] = [];
  const claimed = new Map<string, string>();
  let bytes = 0;
  for (const item of waiting.splice(0, LOOK_AHEAD)) {
    const claims = claimsOf(item.request, batch.length);
    const size = sizeOf(item.request);
    const full = batch.length === BATCH_MAX || (batch.length > 0 && bytes + size > BATCH_MAX_BYTES);
    if (full || claims.some(([name, how]) => (claimed.get(name) ?? how) !== how)) {
      left.push(item);
      continue;
    }
    for (const [name, how] of claims) claimed.set(name, how);
    bytes += size;
    batch.push(item);
  }
  waiting.unshift(...left);
  return batch;
}

/** What a request lays hands on, and how: the same thing in another way does not share a batch, and a key with nothing else. */
function claimsOf(request: SendRequest, index: number): [name: string, how: string][] {
  const { data, idempotencyKey, projectId } = request;
  const change = JSON.stringify([request.subscribed, data.set, data.remove]);
  const claims = request.to.map(({ email }): [string, string] => [`${projectId} contact ${email}`, change]);
  if (idempotencyKey !== undefined) claims.push([`${projectId} key ${idempotencyKey}`, String(index)]);
  return claims;
}

function sizeOf(request: SendRequest): number {
  const files = request.attachments.reduce((sum, { content }) => sum + content.byteLength, 0);
  return files + (request.body?.length ?? 0);
}
