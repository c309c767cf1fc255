import { sql } from 'kysely';
import { AppError } from '../domain/errors.ts';
import { type KeyOwner, maySeeAnswer } from '../domain/key-owner.ts';
import type { Trx } from './connection.ts';

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
  trx: Trx,
  p: { projectId: string; key: string | undefined; owner: KeyOwner; request: string },
  effect: () => Promise<KeptAnswer<T>>,
): Promise<KeptAnswer<T>> {
  const { projectId, key, owner, request } = p;
  if (key === undefined) return effect();
  await takeKey(trx, { projectId, key, owner, request });
  const answer = await effect();
  await sql`
    UPDATE idempotency_keys SET status_code = ${answer.statusCode}, response = ${JSON.stringify(answer.response)}::jsonb
    WHERE project_id = ${projectId} AND public = ${owner.public} AND key = ${key}
  `.execute(trx);
  return answer;
}

interface TakenKey {
  projectId: string;
  key: string;
  owner: KeyOwner;
  request: string;
}

async function takeKey(trx: Trx, p: TakenKey) {
  const { rows } = await sql`
    INSERT INTO idempotency_keys AS k (project_id, public, key, owner, request, status_code, response)
    VALUES (${p.projectId}, ${p.owner.public}, ${p.key}, ${p.owner.name}, ${p.request}, 0, 'null')
    ON CONFLICT (project_id, public, key) DO UPDATE
      SET owner = excluded.owner, request = excluded.request, status_code = 0, response = 'null', created_at = now()
      WHERE k.created_at <= now() - make_interval(hours => ${IDEMPOTENCY_HOURS})
    RETURNING key
  `.execute(trx);
  if (rows.length === 0) throw await keyReused(trx, p);
}

async function keyReused(trx: Trx, p: TakenKey): Promise<AppError> {
  const { rows } = await sql<FirstUse>`
    SELECT key, owner, request, status_code, response, created_at FROM idempotency_keys
    WHERE project_id = ${p.projectId} AND public = ${p.owner.public} AND key = ${p.key}
  `.execute(trx);
  const none = { ...p, owner: null, status_code: 0, response: null, created_at: new Date() };
  return idempotencyConflict(p.owner, rows[0] ?? none);
}

/** The request that took a key, as it is stored. */
export interface FirstUse {
  key: string;
  owner: string | null;
  request: string;
  status_code: number;
  response: unknown;
  created_at: Date;
}

/**
 * The refusal of a key that took effect before, with the first answer where its sender may see it (`maySeeAnswer`); for the set-based ways too.
 */
export function idempotencyConflict(owner: KeyOwner, first: FirstUse): AppError {
  return new AppError('IDEMPOTENCY_KEY_REUSED', {
    details: {
      key: first.key,
      originalRequest: first.request,
      originalRequestAt: first.created_at.toISOString(),
      originalStatusCode: first.status_code,
      originalResponse: maySeeAnswer(owner, first) ? first.response : null,
    },
  });
}
