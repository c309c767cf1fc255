import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { NewOutboxRow, OutboxKind, OutboxRow } from '../domain/outbox.ts';
import { uuidv7 } from '../domain/uuid.ts';
import type { Db } from './connection.ts';
import type { Database } from './schema.ts';

/**
 * How long a row is left to the process that wrote it, which dispatches right after its commit. Only a crash, a full queue or an
 * unreachable Temporal leaves it to the relay.
 */
const OWN_DISPATCH_SECONDS = 5;
/** A row that failed waits 5 s, 10 s, 20 s … and at most this long: Temporal may be away for hours. */
const MAX_BACKOFF_SECONDS = 60;

/** Queues work for Temporal in the caller's transaction; hand the rows to `lifecycle.dispatch` after the commit. */
export async function enqueue(trx: Transaction<Database>, rows: NewOutboxRow[]): Promise<OutboxRow[]> {
  if (rows.length === 0) return [];
  const queued = outboxRows(rows);
  await sql`/* prepared */ ${insertOutbox(queued)}`.execute(trx);
  return queued;
}

/** Work as rows that `insertOutbox` queues. */
export function outboxRows(rows: NewOutboxRow[]): OutboxRow[] {
  return rows.map((row) => ({ ...row, id: uuidv7(), payload: row.payload ?? {} }));
}

/** The statement of `enqueue`, for a statement that does more; any number of rows. */
export function insertOutbox(rows: OutboxRow[]): RawBuilder<unknown> {
  return sql`
    INSERT INTO outbox (id, project_id, kind, ref_id, payload, available_at)
    SELECT u.*, now() + make_interval(secs => ${OWN_DISPATCH_SECONDS})
    FROM unnest(${rows.map((r) => r.id)}::uuid[], ${rows.map((r) => r.projectId)}::uuid[],
      ${rows.map((r) => r.kind)}::text[], ${rows.map((r) => r.refId)}::uuid[],
      ${rows.map((r) => JSON.stringify(r.payload))}::jsonb[]) AS u`;
}

/** Forgets rows whose work Temporal has taken. May run twice. */
export async function deleteDispatched(db: Db, ids: string[]): Promise<void> {
  await sql`/* prepared */ DELETE FROM outbox WHERE id = ANY(${ids}::uuid[])`.execute(db);
}

/**
 * Takes up to `limit` rows that nobody dispatched. A taken row comes back by itself after its backoff, so a relay that is killed
 * loses nothing; two relays never take the same row (SKIP LOCKED).
 */
export async function claimLeftovers(db: Db, limit: number): Promise<OutboxRow[]> {
  const { rows } = await sql<{ id: string; project_id: string; kind: OutboxKind; ref_id: string; payload: object }>`
    UPDATE outbox SET attempts = attempts + 1,
      available_at = now() + make_interval(secs => least(${MAX_BACKOFF_SECONDS}, 5 * 2 ^ least(attempts, 10)))
    WHERE id IN (
      SELECT id FROM outbox WHERE available_at <= now() ORDER BY available_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING id, project_id, kind, ref_id, payload
  `.execute(db);
  return rows
    .map((r) => ({ id: r.id, projectId: r.project_id, kind: r.kind, refId: r.ref_id, payload: { ...r.payload } }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Keeps the words of the last failure with the rows, for the operator; `docs/operating.md` shows the query. */
export async function noteDispatchFailure(db: Db, ids: string[], message: string): Promise<void> {
  await sql`UPDATE outbox SET last_error = ${message.slice(0, 500)} WHERE id = ANY(${ids}::uuid[])`.execute(db);
}

/** Of rows that signal executions, campaigns or the like: those whose target has ended, by row id. */
export async function findEndedTargets(db: Db, rows: OutboxRow[]): Promise<Set<string>> {
  const ids = rows.map((row) => row.refId);
  const { rows: ended } = await sql<{ id: string }>`
    SELECT t.id FROM unnest(${rows.map((row) => row.id)}::uuid[], ${ids}::uuid[]) AS t (id, ref_id)
    WHERE EXISTS (SELECT FROM executions e WHERE e.id = t.ref_id AND e.completed_at IS NOT NULL)
      OR EXISTS (SELECT FROM campaigns c WHERE c.id = t.ref_id AND c.status NOT IN ('SCHEDULED', 'SENDING'))
      OR NOT EXISTS (SELECT FROM executions e WHERE e.id = t.ref_id UNION ALL SELECT FROM campaigns c WHERE c.id = t.ref_id)
  `.execute(db);
  return new Set(ended.map((row) => row.id));
}

/** The outbox as `temporal/lifecycle.ts` uses it. */
export function outboxStore(db: Db) {
  return {
    deleteDispatched: (ids: string[]) => deleteDispatched(db, ids),
    noteFailure: (ids: string[], message: string) => noteDispatchFailure(db, ids, message),
    findEnded: (rows: OutboxRow[]) => findEndedTargets(db, rows),
  };
}
