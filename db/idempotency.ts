import { sql, type Transaction } from 'kysely';
import { AppError } from '../domain/errors.ts';
import type { Database } from './schema.ts';

/** How long a key refuses its second use. Source: spec "Limits". */
export const IDEMPOTENCY_HOURS = 24;

/** What an effect answered: kept with the key, for the client that lost the answer. */
export interface KeptAnswer<T> {
  statusCode: number;
  response: T;
}

/**
 * Runs an effect once for its Idempotency-Key, in the caller's transaction. A second request with the key waits here for the
 * first (on the row that it has inserted) and is refused if that one took effect; if that one failed, nothing of it is left and
 * this one proceeds. Without a key the effect just runs. Source: decisions §1.
 * @throws AppError IDEMPOTENCY_KEY_REUSED with the first request and its answer in `details`
 */
export async function withIdempotency<T>(
  trx: Transaction<Database>,
  p: { projectId: string; key: string | undefined; request: string },
  effect: () => Promise<KeptAnswer<T>>,
): Promise<KeptAnswer<T>> {
  const { projectId, key, request } = p;
  if (key === undefined) return effect();
  await takeKey(trx, { projectId, key, request });
  const answer = await effect();
  await sql`
    UPDATE idempotency_keys SET status_code = ${answer.statusCode}, response = ${JSON.stringify(answer.response)}::jsonb
    WHERE project_id = ${projectId} AND key = ${key}
  `.execute(trx);
  return answer;
}

async function takeKey(trx: Transaction<Database>, p: { projectId: string; key: string; request: string }) {
  const { rows } = await sql`
    INSERT INTO idempotency_keys AS k (project_id, key, request, status_code, response)
    VALUES (${p.projectId}, ${p.key}, ${p.request}, 0, 'null')
    ON CONFLICT (project_id, key) DO UPDATE
      SET request = excluded.request, status_code = 0, response = 'null', created_at = now()
      WHERE k.created_at <= now() - make_interval(hours => ${IDEMPOTENCY_HOURS})
    RETURNING key
  `.execute(trx);
  if (rows.length === 0) throw await keyReused(trx, p);
}

async function keyReused(trx: Transaction<Database>, p: { projectId: string; key: string }): Promise<AppError> {
  const { rows } = await sql<{ request: string; status_code: number; response: unknown; created_at: Date }>`
    SELECT request, status_code, response, created_at FROM idempotency_keys
    WHERE project_id = ${p.projectId} AND key = ${p.key}
  `.execute(trx);
  const row = rows[0];
  return idempotencyConflict({
    key: p.key,
    request: row?.request ?? '',
    createdAt: row?.created_at ?? new Date(),
    statusCode: row?.status_code ?? 0,
    response: row?.response ?? null,
  });
}

/** The refusal of a key that took effect before; for the set-based way of `/v1/send` too. */
export function idempotencyConflict(first: {
  key: string;
  request: string;
  createdAt: Date;
  statusCode: number;
  response: unknown;
}): AppError {
  return new AppError('IDEMPOTENCY_KEY_REUSED', {
    details: {
      key: first.key,
      originalRequest: first.request,
      originalRequestAt: first.createdAt.toISOString(),
      originalStatusCode: first.statusCode,
      originalResponse: first.response,
    },
  });
}
