import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { AppError } from '../domain/errors.ts';
import { IDEMPOTENCY_HOURS, idempotencyConflict } from './idempotency.ts';
import type { Database } from './schema.ts';

export interface KeyedRequest {
  projectId: string;
  key: string;
  request: string;
}

/** How a key is told from others in maps: keys are one namespace a project. */
export const keyName = (p: { projectId: string; key: string }): string => `${p.projectId} ${p.key}`;

/**
 * Takes idempotency keys of many requests in one statement, in the caller's transaction; no two may be the same. They are taken in order,
 * so that two such transactions wait for each other rather than deadlock. Returns the refusals of those that took effect before, by
 * `keyName`. Source: decisions §1.
 */
export async function takeKeys(trx: Transaction<Database>, wanted: KeyedRequest[]): Promise<Map<string, AppError>> {
  if (wanted.length === 0) return new Map();
  const sorted = [...wanted].sort((a, b) => (keyName(a) < keyName(b) ? -1 : 1));
  const { rows } = await sql<{ project_id: string; key: string }>`
    /* prepared */ INSERT INTO idempotency_keys AS k (project_id, key, request, status_code, response)
    SELECT u.project_id, u.key, u.request, 0, 'null'
    FROM unnest(${sorted.map((w) => w.projectId)}::uuid[], ${sorted.map((w) => w.key)}::text[],
      ${sorted.map((w) => w.request)}::text[]) WITH ORDINALITY AS u (project_id, key, request, n)
    ORDER BY u.n
    ON CONFLICT (project_id, key) DO UPDATE
      SET request = excluded.request, status_code = 0, response = 'null', created_at = now()
      WHERE k.created_at <= now() - make_interval(hours => ${IDEMPOTENCY_HOURS})
    RETURNING project_id, key
  `.execute(trx);
  const taken = new Set(rows.map((row) => keyName({ projectId: row.project_id, key: row.key })));
  return refusals(
    trx,
    sorted.filter((w) => !taken.has(keyName(w))),
  );
}

/** Lets go of keys whose requests were refused: a 4xx leaves none behind. */
export async function releaseKeys(
  trx: Transaction<Database>,
  keys: { projectId: string; key: string }[],
): Promise<void> {
  if (keys.length === 0) return;
  await sql`
    DELETE FROM idempotency_keys k USING unnest(${keys.map((k) => k.projectId)}::uuid[], ${keys.map((k) => k.key)}::text[])
      AS u (project_id, key)
    WHERE k.project_id = u.project_id AND k.key = u.key
  `.execute(trx);
}

/** What a request with a key was answered. */
export interface KeyedAnswer {
  projectId: string;
  key: string;
  statusCode: number;
  response: unknown;
}

/** Keeps the answers with their keys, for clients that lose them. */
export async function keepAnswers(trx: Transaction<Database>, answers: KeyedAnswer[]): Promise<void> {
  if (answers.length > 0) await sql`/* prepared */ ${updateAnswers(answers)}`.execute(trx);
}

/** The statement of `keepAnswers`, for a statement that does more; any number of answers. */
export function updateAnswers(answers: KeyedAnswer[]): RawBuilder<unknown> {
  return sql`
    UPDATE idempotency_keys k SET status_code = u.status_code, response = u.response
    FROM unnest(${answers.map((a) => a.projectId)}::uuid[], ${answers.map((a) => a.key)}::text[],
      ${answers.map((a) => a.statusCode)}::int[], ${answers.map((a) => JSON.stringify(a.response))}::jsonb[])
      AS u (project_id, key, status_code, response)
    WHERE k.project_id = u.project_id AND k.key = u.key`;
}

async function refusals(trx: Transaction<Database>, used: KeyedRequest[]): Promise<Map<string, AppError>> {
  if (used.length === 0) return new Map();
  const { rows } = await sql<{
    project_id: string;
    key: string;
    request: string;
    status_code: number;
    response: unknown;
    created_at: Date;
  }>`
    SELECT k.* FROM idempotency_keys k
    JOIN unnest(${used.map((u) => u.projectId)}::uuid[], ${used.map((u) => u.key)}::text[]) AS u (project_id, key)
      ON k.project_id = u.project_id AND k.key = u.key
  `.execute(trx);
  return new Map(
    rows.map((row) => [
      keyName({ projectId: row.project_id, key: row.key }),
      idempotencyConflict({
        key: row.key,
        request: row.request,
        createdAt: row.created_at,
        statusCode: row.status_code,
        response: row.response,
      }),
    ]),
  );
}
