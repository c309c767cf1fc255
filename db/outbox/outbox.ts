import { type RawBuilder, sql } from 'kysely';
import type { StartedWork } from '../../rules/executions/started-work.ts';
import { getOutboxPriority, type NewOutboxRow, type OutboxRow } from '../../rules/outbox.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import type { Db, Trx } from '../connection.ts';
import { prepared } from '../prepared.ts';
import { OPEN_CAMPAIGNS } from '../schema/campaign-status.ts';
import type { RowOf } from '../schema/database.ts';

/**
 * The maximum wait of a row that fails repeatedly. A failing row waits 1 s, 2 s, 4 s and so on, up to this time,
 * because the cause of the failure may have been corrected.
 */
const MAX_BACKOFF_SECONDS = 60;
/** Maximum length of the stored error of a row, which operators read. */
const ERROR_MAX_CHARS = 500;

/**
 * Inserts rows into the outbox in the caller's transaction. After the commit, pass the returned rows to the waker's
 * `wake`, which wakes the workers.
 */
export async function enqueue(trx: Trx, rows: NewOutboxRow[]): Promise<OutboxRow[]> {
  if (rows.length === 0) return [];
  const queued = toOutboxRows(rows);
  await prepared`${insertOutboxSql(queued)}`.execute(trx);
  return queued;
}

/** Adds ids to rows for `insertOutboxSql`. */
export function toOutboxRows(rows: NewOutboxRow[]): OutboxRow[] {
  return rows.map((row) => ({ ...row, id: uuidv7(), payload: row.payload ?? {} }) as OutboxRow);
}

/** Returns the statement of `enqueue`, for use within another statement. Takes any number of rows. */
export function insertOutboxSql(rows: OutboxRow[]): RawBuilder<unknown> {
  return sql`
    INSERT INTO outbox (id, project_id, kind, priority, ref_id, payload)
    SELECT u.* FROM unnest(${rows.map((r) => r.id)}::uuid[], ${rows.map((r) => r.projectId)}::uuid[],
      ${rows.map((r) => r.kind)}::text[], ${rows.map(getOutboxPriority)}::int2[], ${rows.map((r) => r.refId)}::uuid[],
      ${rows.map((r) => JSON.stringify(r.payload))}::jsonb[]) AS u`;
}

export interface FairClaim {
  priority: number;
  /** Maximum number of rows. */
  limit: number;
  /**
   * The project that the previous claim served last. This claim starts with the next project, or with the first project
   * if `after` is the zero id.
   */
  after: string;
  /**
   * Claimed rows can be claimed again after this time. If a row still exists then, the process that claimed it was
   * killed, or Temporal has lost the start.
   */
  leaseMs: number;
  /**
   * The number of further rows that each of these projects may have in progress. Projects that are absent have no
   * limit.
   */
  freeSlotsByProject?: Map<string, number>;
  /**
   * Set for rows that Temporal starts: `taken_at` marks them as handed to Temporal, until they are deleted or their
   * lease expires.
   */
  forTemporal?: boolean;
}

/** A row that this process has claimed. */
export type TakenRow = OutboxRow & {
  /** The number of this attempt; 1 for the first one. */
  attempts: number;
};

/**
 * A claim considers this number of projects with due rows, starting with the project whose turn it is, and the same
 * number, starting with the first project.
 */
const PROJECTS_CONSIDERED = 100;

/**
 * Claims waiting rows of one priority, one row per project in turn, and the oldest rows of each project first. Two
 * concurrent calls never claim the same row (SKIP LOCKED). Uses one lookup in the index `outbox_turn` for each project
 * with due rows, so a project with 100,000 rows does not delay other projects. Returns the rows in the order of their
 * ids.
 */
export async function claimRowsFairly(db: Db, p: FairClaim): Promise<TakenRow[]> {
  const { priority, after, freeSlotsByProject = new Map<string, number>() } = p;
  const taken = p.forTemporal ? sql`taken_at = now(),` : sql``;
  const { rows } = await prepared<ClaimedRow>`
    WITH RECURSIVE
    ${projectsCteSql('ahead', priority, sql`> ${after}::uuid`)},
    ${projectsCteSql('behind', priority, sql`<= ${after}::uuid`)},
    waiting AS MATERIALIZED (
      SELECT w.project_id, w.place, coalesce(r.free_slots, 2147483647) AS free_slots
      FROM (SELECT project_id, n AS place FROM ahead UNION ALL SELECT project_id, n + ${PROJECTS_CONSIDERED} FROM behind) w
      LEFT JOIN unnest(${[...freeSlotsByProject.keys()]}::uuid[], ${[...freeSlotsByProject.values()]}::int[]) AS r (project_id, free_slots) ON r.project_id = w.project_id
      WHERE coalesce(r.free_slots, 1) > 0
    ), picked AS (
      SELECT turns.id FROM (
        SELECT o.id, w.place, row_number() OVER (PARTITION BY w.project_id ORDER BY o.id) AS turn
        FROM waiting w CROSS JOIN LATERAL (
          SELECT q.id FROM outbox q
          WHERE q.priority = ${priority}::int2 AND q.project_id = w.project_id AND q.available_at <= now()
          ORDER BY q.id LIMIT least(w.free_slots, (SELECT ceil(${p.limit}::float8 / greatest(1, count(*))) FROM waiting)) FOR UPDATE SKIP LOCKED) o
      ) turns ORDER BY turns.turn, turns.place LIMIT ${p.limit}
    )
    UPDATE outbox o SET ${taken} attempts = o.attempts + 1, available_at = now() + make_interval(secs => ${p.leaseMs / 1000}::float8)
    FROM picked WHERE o.id = picked.id
    RETURNING o.id, o.project_id, o.kind, o.ref_id, o.payload, o.attempts
  `.execute(db);
  return rows.map(toTaken).sort((a, b) => (a.id < b.id ? -1 : 1));
}

/**
 * Tells whether rows may still be due after a claim that took these rows. A claim divides its limit evenly among the
 * projects with due rows, so a project may have more rows than its share. If a claim took rows of a single project, the
 * projects that it considered have no further row that may be taken now.
 */
export function mayLeaveDueRows(claimed: TakenRow[]): boolean {
  return claimed.some(({ projectId }) => projectId !== claimed[0]?.projectId);
}

/** The state of the outbox that a worker reads before it claims rows. */
export interface OutboxState {
  /** The priorities that have waiting rows. */
  waiting: number[];
  /** The number of rows that workers have claimed for Temporal and whose lease has not expired, by project. */
  withTemporal: Map<string, number>;
}

/**
 * Reads the state of the outbox with one cheap query, because the dispatcher reads it before each claim. A row whose
 * lease has expired counts as waiting and not as handed to Temporal. The condition has a lower and an upper bound of
 * `taken_at`, so that the planner expects few rows and uses their index instead of reading the whole backlog.
 */
export async function readOutboxState(db: Db, priorities: readonly number[]): Promise<OutboxState> {
  const { rows } = await prepared<{ waiting: number[]; projectIds: string[]; counts: number[] }>`
    SELECT coalesce(t.project_ids, '{}') AS "projectIds", coalesce(t.counts, '{}') AS counts,
      array_remove(ARRAY[${sql.join(priorities.map(waitingPrioritySql))}], NULL) AS waiting
    FROM (
      SELECT array_agg(p.project_id::text) AS project_ids, array_agg(p.rows) AS counts FROM (
        SELECT project_id, count(*)::int AS rows FROM outbox
        WHERE taken_at BETWEEN now() - interval '1 day' AND now() AND available_at > now() GROUP BY project_id) p
    ) t
  `.execute(db);
  const [state = { waiting: [], projectIds: [], counts: [] }] = rows;
  const withTemporal = new Map(state.projectIds.map((id, index) => [id, state.counts[index] ?? 0]));
  return { waiting: state.waiting, withTemporal };
}

/**
 * Returns a subquery for the priority: the priority if it has a waiting row, otherwise NULL. The ORDER BY of the
 * subquery has the order of the index `outbox_turn`; without it, the planner would read the whole table.
 */
function waitingPrioritySql(priority: number): RawBuilder<unknown> {
  const each = sql.lit(priority);
  return sql`(SELECT ${each}::int FROM outbox WHERE priority = ${each} AND available_at <= now() ORDER BY project_id, id LIMIT 1)`;
}

/**
 * Builds a recursive CTE that selects up to `PROJECTS_CONSIDERED` projects with due rows of a priority, in the order of
 * their ids. The CTE finds each project by one lookup in the index, which skips rows that are not due.
 */
function projectsCteSql(name: string, priority: number, where: RawBuilder<unknown>): RawBuilder<unknown> {
  const table = sql.ref(name);
  const selectNextProject = (beyond: RawBuilder<unknown>) => sql`
    SELECT o.project_id FROM outbox o
    WHERE o.priority = ${priority}::int2 AND ${beyond} AND o.available_at <= now() ORDER BY o.project_id LIMIT 1`;
  return sql`
    ${table} AS (
      (SELECT f.project_id, 1 AS n FROM (${selectNextProject(sql`o.project_id ${where}`)}) f)
      UNION ALL
      SELECT o.project_id, w.n + 1 FROM ${table} w CROSS JOIN LATERAL (
        ${selectNextProject(sql`o.project_id > w.project_id AND o.project_id ${where}`)}) o
      WHERE w.n < ${PROJECTS_CONSIDERED})`;
}

type ClaimedRow = RowOf<'outbox', ['id', 'project_id', 'kind', 'ref_id', 'attempts']> & { payload: object };

function toTaken(row: ClaimedRow): TakenRow {
  const { id, project_id: projectId, kind, ref_id: refId, attempts } = row;
  // All code that writes rows has typed arguments, so the kind of a row matches its payload.
  return { id, projectId, kind, refId, attempts, payload: row.payload } as TakenRow;
}

/** Extends the leases of rows that this process is still working on, so that no other process claims them. */
export async function renewOutboxLeases(db: Db, p: { ids: string[]; leaseMs: number }): Promise<void> {
  await prepared`
    UPDATE outbox SET available_at = now() + make_interval(secs => ${p.leaseMs / 1000}::float8) WHERE id = ANY(${p.ids}::uuid[])
  `.execute(db);
}

/** Releases rows as if they had not been claimed. The rows can be claimed again at once. */
export async function releaseOutboxRows(db: Db, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await prepared`
    UPDATE outbox SET attempts = greatest(0, attempts - 1), available_at = now(), taken_at = NULL WHERE id = ANY(${ids}::uuid[])
  `.execute(db);
}

/**
 * Defers rows whose work could not be started, with a longer delay each time (see `MAX_BACKOFF_SECONDS`), and stores
 * the error for the operator.
 * Safe to run twice.
 */
export async function deferOutboxRows(db: Db, ids: string[], message: string): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    UPDATE outbox SET taken_at = NULL, last_error = ${message.slice(0, ERROR_MAX_CHARS)},
      available_at = now() + make_interval(secs => least(${MAX_BACKOFF_SECONDS}, 2 ^ least(attempts - 1, 10)))
    WHERE id = ANY(${ids}::uuid[])
  `.execute(db);
}

/** Deletes rows whose work is done or was started by Temporal. Safe to run twice. */
export async function deleteOutboxRows(db: Db, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await prepared`DELETE FROM outbox WHERE id = ANY(${ids}::uuid[])`.execute(db);
}

/** Deletes rows whose workflows Temporal has started. Safe to run twice. */
export async function deleteStartedOutboxRows(db: Db, begun: StartedWork[]): Promise<void> {
  await prepared`
    DELETE FROM outbox o
    USING unnest(${begun.map((b) => b.kind)}::text[], ${begun.map((b) => b.refId)}::uuid[],
      ${begun.map((b) => b.visit)}::int[], ${begun.map((b) => b.rowId ?? null)}::uuid[]) AS u (kind, ref_id, visit, row_id)
    WHERE o.ref_id = u.ref_id AND o.kind = u.kind AND o.taken_at IS NOT NULL
      AND (u.visit IS NULL OR (o.payload->>'visit')::int = u.visit)
      AND (u.row_id IS NULL OR o.id = u.row_id)
  `.execute(db);
}

/** How long a signal waits if no worker has confirmed an earlier equal signal yet. */
export const SIGNAL_DEFERRAL_MS = 100;

/**
 * Merges the claimed rows of equal signals (same kind, workflow and payload) into the oldest one, and deletes unclaimed
 * rows of the same signal. The workflow reads the database after the signal, so one signal is enough for all rows that
 * exist before it. If Temporal has not confirmed an older equal signal, the merged row is released and waits.
 * @returns the ids of the rows to send to Temporal
 */
export async function mergeSignals(db: Db, ids: string[]): Promise<Set<string>> {
  const { rows } = await prepared<{ id: string }>`
    WITH mine AS MATERIALIZED (
      SELECT id, kind, ref_id, payload, first_value(id) OVER (PARTITION BY kind, ref_id, payload ORDER BY id) AS first
      FROM outbox WHERE id = ANY(${ids}::uuid[])
    ), signals AS MATERIALIZED (
      SELECT m.*, EXISTS (
        SELECT FROM outbox t WHERE t.ref_id = m.ref_id AND t.kind = m.kind AND t.payload = m.payload AND t.id < m.id
          AND t.taken_at IS NOT NULL AND t.available_at > now()) AS unreceived
      FROM mine m WHERE m.id = m.first
    ), merged AS (
      DELETE FROM outbox WHERE id IN (
        SELECT o.id FROM outbox o JOIN signals s ON s.ref_id = o.ref_id AND s.kind = o.kind AND s.payload = o.payload
        WHERE o.id <> s.id AND (o.id = ANY(${ids}::uuid[]) OR o.taken_at IS NULL) FOR UPDATE OF o SKIP LOCKED)
    ), deferred AS (
      UPDATE outbox o SET taken_at = NULL, attempts = greatest(0, o.attempts - 1),
        available_at = now() + make_interval(secs => ${SIGNAL_DEFERRAL_MS / 1000}::float8)
      FROM signals s WHERE o.id = s.id AND s.unreceived
    )
    SELECT id FROM signals WHERE NOT unreceived
  `.execute(db);
  return new Set(rows.map((row) => row.id));
}

/**
 * Finds starts of executions that have already ended or were deleted. The Temporal workflow of such an execution must
 * not start: if its first wait has no deadline, the workflow would stay open forever. Excludes starts whose only
 * purpose is to end the workflow. Returns the ids of the rows.
 */
export async function findEndedStarts(db: Db, rows: OutboxRow[]): Promise<Set<string>> {
  const { rows: ended } = await prepared<{ id: string }>`
    SELECT t.id FROM unnest(${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.refId)}::uuid[],
      ${rows.map(isEndingStart)}::bool[]) AS t (id, ref_id, ended)
    LEFT JOIN executions e ON e.id = t.ref_id
    WHERE (e.id IS NULL OR e.completed_at IS NOT NULL) AND NOT t.ended
  `.execute(db);
  return new Set(ended.map((row) => row.id));
}

/** Tells whether a row starts a workflow only to end it. */
function isEndingStart(row: OutboxRow): boolean {
  return row.kind === 'execution.start' && row.payload.next.kind === 'end';
}

/**
 * Finds signals whose target (an execution or a campaign) has ended or was deleted, and returns the ids of their rows.
 * A target whose start is still in the outbox is not included: it will start later, and needs the signal then.
 */
export async function findEndedTargets(db: Db, rows: OutboxRow[]): Promise<Set<string>> {
  const ids = rows.map((row) => row.refId);
  const { rows: ended } = await sql<{ id: string }>`
    SELECT t.id FROM unnest(${rows.map((row) => row.id)}::uuid[], ${ids}::uuid[]) AS t (id, ref_id)
    WHERE (EXISTS (SELECT FROM executions e WHERE e.id = t.ref_id AND e.completed_at IS NOT NULL)
        OR EXISTS (SELECT FROM campaigns c WHERE c.id = t.ref_id AND c.status NOT IN ${OPEN_CAMPAIGNS})
        OR NOT EXISTS (SELECT FROM executions e WHERE e.id = t.ref_id UNION ALL SELECT FROM campaigns c WHERE c.id = t.ref_id))
      AND NOT EXISTS (SELECT FROM outbox s WHERE s.ref_id = t.ref_id AND s.kind IN ('execution.start', 'campaign.start'))
  `.execute(db);
  return new Set(ended.map((row) => row.id));
}
