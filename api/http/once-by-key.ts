import { z } from '@hono/zod-openapi';
import type { Handler } from 'hono';
import { insertIdempotencyKeys, storeResponses } from '../../db/idempotency-batch.ts';
import { createJoinableDb, runAfterCommit, withinTransaction } from '../../db/joined-transaction.ts';
import { inTransaction } from '../../db/transaction.ts';
import { readIdempotencyKeyOwner } from './actor.ts';
import type { Deps } from './deps.ts';
import type { AppEnv } from './env.ts';
import { IdempotencyHeader, readIdempotencyKey } from './idempotency-key.ts';

/** Rules of an operation for requests with an Idempotency-Key. */
export interface OnceRules {
  /** Method and path, for the error message. */
  request: string;
  /** Fields of the response that are shown only once, such as a new secret. They are not stored with the key. */
  shownOnce?: readonly string[] | undefined;
}

/**
 * Returns a handler that takes effect once per Idempotency-Key. The writes of `handler`, the key and the response are
 * committed in one transaction, so a killed process leaves all of them or none. If `handler` throws, the key can be
 * used again. Requests without a key call `handler` directly. For a second request with the same key within 24 hours,
 * the returned handler throws an AppError with IDEMPOTENCY_KEY_REUSED. Source: contract §1.8 Idempotency.
 */
export function runOncePerKey(handler: Handler<AppEnv>, rules: OnceRules, deps: Deps): Handler<AppEnv> {
  return async (c, next) => {
    const key = readIdempotencyKey(c);
    if (key === undefined) return handler(c, next);
    const projectId = c.get('projectId');
    const keyedRequest = {
      projectId,
      key,
      owner: readIdempotencyKeyOwner(c),
      request: rules.request,
      fingerprint: c.get('fingerprint'),
    };
    // Limits the number of concurrent requests with an Idempotency-Key. Each of them occupies a database connection,
    // also while it waits for an earlier request with the same Idempotency-Key. Requests with the project's public key
    // have a separate queue, so that other requests of the project do not wait for them.
    const queue = keyedRequest.owner.public ? `${projectId} public` : projectId;
    return deps.compute.runKeyedRequest({ projectId: queue, kind: rules.request }, async () => {
      const { result, committed } = await inTransaction(deps.db, async (trx) => {
        const [reused] = (await insertIdempotencyKeys(trx, [keyedRequest])).values();
        if (reused) throw reused;
        const outcome = await withinTransaction(trx, async () => (await handler(c, next)) as Response);
        const { status } = outcome.result;
        await storeResponses(trx, [
          { ...keyedRequest, statusCode: status, response: await readResponse(outcome.result, rules) },
        ]);
        return outcome;
      });
      committed();
      return result;
    });
  };
}

/**
 * Returns dependencies for handlers. While `runOncePerKey` runs a handler, `db` and `reads` use the transaction of this
 * handler.
 */
export function withJoinableTransactions(deps: Deps): Deps {
  const { outbox, keys } = deps;
  return {
    ...deps,
    db: createJoinableDb(deps.db),
    // A handler must find the rows that it has just written.
    reads: createJoinableDb(deps.reads),
    // Wakes the workers only after the commit, because they cannot see the rows before.
    outbox: { wake: (rows) => runAfterCommit(() => outbox.wake(rows)) },
    keys: { ...keys, clear: () => runAfterCommit(() => keys.clear()) },
  };
}

/** Returns the `request.headers` of an operation, with `Idempotency-Key` added unless it is already declared. */
export function withKeyHeader(headers: unknown): z.ZodObject {
  return headers instanceof z.ZodObject ? headers.extend(IdempotencyHeader.shape) : IdempotencyHeader;
}

/**
 * Tells whether an operation declares the header `Idempotency-Key`. If a route declares the header itself, the
 * operation handles the key in its own code. Sends do so, because several sends share a transaction. `withKeyHeader`
 * adds the header to all other operations.
 */
export function declaresIdempotencyKey(headers: unknown): boolean {
  return headers instanceof z.ZodObject && 'Idempotency-Key' in headers.shape;
}

async function readResponse(response: Response, { shownOnce = [] }: OnceRules): Promise<unknown> {
  const text = await response.clone().text();
  const body: unknown = text === '' ? null : JSON.parse(text);
  if (typeof body !== 'object' || body === null || shownOnce.length === 0) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !shownOnce.includes(name)));
}
