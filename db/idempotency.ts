import type { IdempotencyKeyOwner } from '../rules/access/idempotency-key-owner.ts';
import type { Trx } from './connection.ts';
import { insertIdempotencyKeys, storeResponses } from './idempotency-batch.ts';

/** Response of a request, stored with its key for callers that did not receive the response. */
export interface StoredResponse<T> {
  statusCode: number;
  response: T;
}

/**
 * Runs `effect` at most once in 24 hours for its Idempotency-Key, in the caller's transaction. A second request with
 * the key waits for the first, on the lock of the row that the first has inserted. If the first request succeeds, the
 * second is refused. If the first fails, its row is rolled back, and the second request proceeds. Without a key, the
 * effect always runs. Source: contract §1.8 Idempotency.
 * @throws AppError IDEMPOTENCY_KEY_REUSED with the first request in `details`, and with its response if the caller may
 * see it
 */
export async function withIdempotency<T>(
  trx: Trx,
  p: {
    projectId: string;
    key: string | undefined;
    owner: IdempotencyKeyOwner;
    request: string;
    fingerprint?: string | undefined;
  },
  effect: () => Promise<StoredResponse<T>>,
): Promise<StoredResponse<T>> {
  const { projectId, key, owner, request, fingerprint } = p;
  if (key === undefined) return effect();
  const [refused] = (await insertIdempotencyKeys(trx, [{ projectId, key, owner, request, fingerprint }])).values();
  if (refused) throw refused;
  const response = await effect();
  await storeResponses(trx, [{ projectId, key, owner, ...response }]);
  return response;
}
