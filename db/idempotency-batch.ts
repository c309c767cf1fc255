import { type RawBuilder, sql } from 'kysely';
import { type IdempotencyKeyOwner, maySeeResponse } from '../rules/access/idempotency-key-owner.ts';
import { AppError } from '../rules/errors.ts';
import type { Trx } from './connection.ts';
import { prepared } from './prepared.ts';

/** The number of hours for which an idempotency key cannot be used again. */
export const IDEMPOTENCY_HOURS = 24;

/**
 * Identifies an idempotency key. Each project has its own idempotency keys, and requests with the public API key have
 * separate ones.
 */
export interface KeyRef {
  projectId: string;
  owner: Pick<IdempotencyKeyOwner, 'public'>;
  key: string;
}

export interface KeyedRequest extends KeyRef {
  owner: IdempotencyKeyOwner;
  request: string;
  /** From `fingerprintRequest`. */
  fingerprint?: string | undefined;
}

/** Returns a text that identifies an idempotency key, for use as a key of a Map. */
export const toIdempotencyMapKey = ({ projectId, owner, key }: KeyRef): string =>
  `${projectId} ${owner.public ? 'public' : 'own'} ${key}`;

/**
 * Inserts the idempotency keys of many requests in one statement, in the caller's transaction. The keys must all be
 * different. Inserts the keys in sorted order, so that two transactions with the same keys wait instead of deadlocking.
 * Returns an error for each key that was used in the last 24 hours, by `toIdempotencyMapKey`. Source: contract §1.8
 * Idempotency.
 */
export async function insertIdempotencyKeys(trx: Trx, wanted: KeyedRequest[]): Promise<Map<string, AppError>> {
  if (wanted.length === 0) return new Map();
  const sorted = [...wanted].sort((a, b) => (toIdempotencyMapKey(a) < toIdempotencyMapKey(b) ? -1 : 1));
  const { rows } = await prepared<{ project_id: string; public: boolean; key: string }>`
    INSERT INTO idempotency_keys AS k (project_id, public, key, owner, request, fingerprint, status_code, response)
    SELECT u.project_id, u.public, u.key, u.owner, u.request, u.fingerprint, 0, 'null'
    FROM unnest(${sorted.map((w) => w.projectId)}::uuid[], ${sorted.map((w) => w.owner.public)}::bool[],
      ${sorted.map((w) => w.key)}::text[], ${sorted.map((w) => w.owner.name)}::text[],
      ${sorted.map((w) => w.request)}::text[], ${sorted.map((w) => w.fingerprint ?? null)}::text[])
      WITH ORDINALITY AS u (project_id, public, key, owner, request, fingerprint, n)
    ORDER BY u.n
    ON CONFLICT (project_id, public, key) DO UPDATE
      SET owner = excluded.owner, request = excluded.request, fingerprint = excluded.fingerprint, status_code = 0, response = 'null', created_at = now()
      WHERE k.created_at <= now() - make_interval(hours => ${IDEMPOTENCY_HOURS})
    RETURNING project_id, public, key
  `.execute(trx);
  const taken = new Set(rows.map(nameOfRow));
  return findRefusals(
    trx,
    sorted.filter((w) => !taken.has(toIdempotencyMapKey(w))),
  );
}

/** Deletes the keys of refused requests, because the caller may use a key again after a response 4xx. */
export async function deleteIdempotencyKeys(trx: Trx, keys: KeyRef[]): Promise<void> {
  if (keys.length === 0) return;
  await sql`
    DELETE FROM idempotency_keys k USING ${keyRowsSql(keys)}
    WHERE k.project_id = u.project_id AND k.public = u.public AND k.key = u.key
  `.execute(trx);
}

/** Response to a request with a key. */
export interface KeyedResponse extends KeyRef {
  statusCode: number;
  response: unknown;
}

/** Stores responses with their keys, for callers that did not receive the response. */
export async function storeResponses(trx: Trx, responses: KeyedResponse[]): Promise<void> {
  if (responses.length > 0) await prepared`${updateResponsesSql(responses)}`.execute(trx);
}

/** Returns the statement of `storeResponses`, for use within another statement. Takes any number of responses. */
export function updateResponsesSql(responses: KeyedResponse[]): RawBuilder<unknown> {
  return sql`
    UPDATE idempotency_keys k SET status_code = u.status_code, response = u.response
    FROM unnest(${responses.map((a) => a.projectId)}::uuid[], ${responses.map((a) => a.owner.public)}::bool[],
      ${responses.map((a) => a.key)}::text[], ${responses.map((a) => a.statusCode)}::int[],
      ${responses.map((a) => JSON.stringify(a.response))}::jsonb[]) AS u (project_id, public, key, status_code, response)
    WHERE k.project_id = u.project_id AND k.public = u.public AND k.key = u.key`;
}

/**
 * Returns the errors for keys that were used before. A key that expires between the insert and this query is refused,
 * too.
 */
async function findRefusals(trx: Trx, used: KeyedRequest[]): Promise<Map<string, AppError>> {
  if (used.length === 0) return new Map();
  const { rows } = await sql<FirstUse & { project_id: string; public: boolean }>`
    SELECT k.* FROM idempotency_keys k
    JOIN ${keyRowsSql(used)} ON k.project_id = u.project_id AND k.public = u.public AND k.key = u.key
  `.execute(trx);
  const first = new Map(rows.map((row) => [nameOfRow(row), row]));
  return new Map(
    used.map((request) => {
      const mapKey = toIdempotencyMapKey(request);
      return [mapKey, createKeyReusedError(request, first.get(mapKey))];
    }),
  );
}

/** The stored request that used a key first. */
interface FirstUse {
  key: string;
  owner: string | null;
  request: string;
  fingerprint: string | null;
  status_code: number;
  response: unknown;
  created_at: Date;
}

/**
 * Builds the error for a repeated key. The error contains the first response only if the request is the same, and only
 * for a caller who may see the response (`maySeeResponse`).
 */
function createKeyReusedError(
  { key, owner, request, fingerprint }: KeyedRequest,
  first: FirstUse | undefined,
): AppError {
  const sameRequest = fingerprint !== undefined && first?.fingerprint === fingerprint && first.request === request;
  const originalResponse = first && sameRequest && maySeeResponse(owner, first) ? first.response : null;
  return new AppError('IDEMPOTENCY_KEY_REUSED', {
    suggestion: suggestRemedy(sameRequest, originalResponse),
    details: {
      key,
      originalRequest: first?.request ?? request,
      originalRequestAt: (first?.created_at ?? new Date()).toISOString(),
      originalStatusCode: first?.status_code ?? 0,
      sameRequest,
      originalResponse,
    },
  });
}

function suggestRemedy(sameRequest: boolean, originalResponse: unknown): string {
  if (!sameRequest) return 'The key belongs to a different request, named in details. Use a new key for this one.';
  return originalResponse === null
    ? 'This request took effect before. Read its record instead, or repeat the request with the first credentials.'
    : 'This request took effect before. Take its result from details.originalResponse.';
}

function keyRowsSql(keys: KeyRef[]): RawBuilder<unknown> {
  return sql`unnest(${keys.map((k) => k.projectId)}::uuid[], ${keys.map((k) => k.owner.public)}::bool[],
    ${keys.map((k) => k.key)}::text[]) AS u (project_id, public, key)`;
}

function nameOfRow(row: { project_id: string; public: boolean; key: string }): string {
  return toIdempotencyMapKey({ projectId: row.project_id, owner: row, key: row.key });
}
