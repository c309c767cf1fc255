import { type SqlBool, sql } from 'kysely';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { CsvLayout } from '../../rules/contacts/csv-layout.ts';
import {
  BULK_KINDS,
  type BulkKind,
  type BulkResult,
  type ImportResult,
  JOB_KINDS,
  type JobKind,
  type JobStatus,
  toBulkOperation,
} from '../../rules/contacts/jobs.ts';
import { AppError } from '../../rules/errors.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { RowMissing } from '../../rules/row-missing.ts';
import type { Db, Trx } from '../connection.ts';
import { afterCursorSql, type Page, type PageRequest, toPage } from '../keyset.ts';
import { enqueue } from '../outbox/outbox.ts';
import type { RowOf } from '../schema/database.ts';
import { type ContactSelection, contactPredicate, countMatchingContacts } from './contact-search.ts';

export interface Job {
  id: string;
  kind: JobKind;
  status: JobStatus;
  total: number;
  processed: number;
  result: ImportResult | BulkResult;
  failedReason: string | null;
  createdAt: Date;
  startedAt: Date | null;
  completedAt: Date | null;
}

export interface JobRef {
  projectId: string;
  id: string;
}

/**
 * Input of a bulk job. `mode` is the mode of the API key: with a test key, workflows that the job's events start send
 * nothing to providers.
 */
export interface BulkInput {
  /** Empty if `where` selects the contacts. */
  contactIds: string[];
  /** Selects contacts by their values at the time when the job reaches them, in the order of their ids. */
  where?: ContactSelection;
  /**
   * `until` is the newest contact at the time of the request, and `after` is the last contact that the job has
   * processed. The job processes the contacts after `after` up to `until`.
   */
  until?: string;
  after?: string;
  mode: KeyMode;
}

export interface ImportInput {
  layout: CsvLayout;
  /** Whether every value is stored as text, without detecting numbers and dates. */
  text: boolean;
  /** Whether new subscribed contacts record `contact.subscribed`. Absent in jobs of earlier releases. */
  triggerWorkflows?: boolean;
  mode: KeyMode;
}

/** The state of a job that is locked while one chunk of it is processed. */
export interface LockedJob<Input, Result> {
  input: Input;
  result: Result;
  /** The position of the job: the index of the next id in its list, or the byte offset of the next row in its file. */
  cursor: number;
  processed: number;
}

const COLUMNS = [
  'id',
  'kind',
  'status',
  'total',
  'processed',
  'result',
  'failed_reason',
  'created_at',
  'started_at',
  'completed_at',
] as const;

type JobRow = RowOf<'jobs', typeof COLUMNS>;

/**
 * Queues a bulk job for a list of contacts, without repeated ids. After the commit, pass `outbox` to the outbox's
 * `wake`. Source: contract §3.5 Import.
 */
export async function createBulkJob(
  trx: Trx,
  p: { projectId: string; kind: BulkKind } & BulkInput,
): Promise<{ id: string; outbox: OutboxRow[] }> {
  const contactIds = [...new Set(p.contactIds)];
  const result = newResult(p.kind, contactIds.length);
  const input: BulkInput = { contactIds, mode: p.mode };
  return insertJob(trx, { projectId: p.projectId, kind: p.kind, input, result, total: contactIds.length, file: null });
}

/**
 * Queues a bulk job for the contacts that match a condition. After the commit, pass `outbox` to the outbox's `wake`.
 * @throws AppError CONFLICT for a condition with segments that refer to each other in a cycle
 */
export async function createBulkJobWhere(
  trx: Trx,
  p: { projectId: string; kind: BulkKind; where: ContactSelection; mode: KeyMode },
): Promise<{ id: string; outbox: OutboxRow[] }> {
  const { projectId, kind, where, mode } = p;
  const total = await countMatchingContacts(trx, await contactPredicate(trx, { projectId, ...where }));
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM contacts WHERE project_id = ${projectId} ORDER BY id DESC LIMIT 1`.execute(trx);
  const result = newResult(kind, total);
  const input: BulkInput = { contactIds: [], where, mode, ...(rows[0] && { until: rows[0].id }) };
  return insertJob(trx, { projectId, kind, input, result, total, file: null });
}

/**
 * Queues an import of a file. The caller has determined the `layout` of the file and its number of rows. After the
 * commit, pass `outbox` to the outbox's `wake`.
 */
export async function createImportJob(
  trx: Trx,
  p: ImportInput & { projectId: string; file: Buffer; rows: number },
): Promise<{ id: string; outbox: OutboxRow[] }> {
  const { notes } = p.layout;
  const result = { ...newResult('import', p.rows), ...(notes && { notes }) };
  const { layout, text, triggerWorkflows, mode } = p;
  const input: ImportInput = { layout, text, triggerWorkflows, mode };
  return insertJob(trx, { projectId: p.projectId, kind: 'import', input, result, total: p.rows, file: p.file });
}

/**
 * Returns one job.
 * @throws AppError NOT_FOUND, also for an id of another project or of a job of another kind
 */
export async function getJob(db: Db, p: JobRef & { kinds: readonly JobKind[] }): Promise<Job> {
  const row = await db
    .selectFrom('jobs')
    .select(COLUMNS)
    .where('project_id', '=', p.projectId)
    .where('id', '=', p.id)
    .where('kind', 'in', p.kinds)
    .executeTakeFirst();
  if (!row) throw new AppError('NOT_FOUND', { message: 'No job of this project has this id.' });
  return toJob(row);
}

/**
 * Lists jobs newest first: all, only queued and running ones (`active: true`), or only ended ones (`active: false`).
 * `total` is counted only on the first page and is 0 on later pages.
 */
export async function listJobs(
  db: Db,
  p: PageRequest & { projectId: string; active?: boolean | undefined },
): Promise<Page<Job> & { total: number }> {
  const open = sql<SqlBool>`status IN ('QUEUED', 'RUNNING')`;
  const found = sql<SqlBool>`project_id = ${p.projectId}
    AND ${p.active === undefined ? sql`true` : p.active ? open : sql`NOT ${open}`}`;
  // Omits the list of errors, because a job may have thousands.
  const { rows } = await sql<JobRow>`
    SELECT ${sql.raw(COLUMNS.join(', ').replace('result', "result - 'errors' AS result"))} FROM jobs
    WHERE ${found} AND ${afterCursorSql(p.cursor)} ORDER BY id DESC LIMIT ${p.limit + 1}`.execute(db);
  const counted = p.cursor === undefined;
  const total = counted
    ? (await sql<{ total: number }>`SELECT count(*) AS total FROM jobs WHERE ${found}`.execute(db)).rows[0]?.total
    : 0;
  return { ...toPage(rows, p.limit, toJob), total: total ?? 0 };
}

function toJob(row: JobRow): Job {
  return {
    id: row.id,
    kind: row.kind,
    status: row.status,
    total: row.total,
    processed: row.processed,
    // Adds missing fields: the column's default is `{}`, and one incomplete row must not make the whole list fail.
    result: { ...newResult(row.kind, row.total), ...row.result },
    failedReason: row.failed_reason,
    createdAt: row.created_at,
    startedAt: row.started_at,
    completedAt: row.completed_at,
  };
}

/** An import that has not ended. */
export interface OpenImport {
  file: Buffer;
  input: ImportInput;
  cursor: number;
  processed: number;
  /**
   * Number of earlier imports of the project that have not ended. The earlier imports are processed before this one.
   */
  ahead: number;
}

/**
 * Returns an import that is queued or running; undefined if it has ended. The file can have 5 MB, so it is read only if
 * no earlier import of the project is unfinished. If an earlier import is unfinished, `file` is empty.
 */
export async function findImport(db: Db, { projectId, id }: JobRef): Promise<OpenImport | undefined> {
  const { rows } = await sql<OpenImport>`
    SELECT CASE WHEN ahead = 0 THEN j.file ELSE '' END AS file, j.input, j.cursor, j.processed, ahead
    FROM jobs j, LATERAL (
      SELECT count(*)::int AS ahead FROM jobs o
      WHERE o.project_id = j.project_id AND o.kind = 'import' AND o.status IN ('QUEUED', 'RUNNING') AND o.id < j.id) older
    WHERE j.project_id = ${projectId} AND j.id = ${id} AND j.status IN ('QUEUED', 'RUNNING') AND j.file IS NOT NULL
  `.execute(db);
  return rows[0];
}

/**
 * Locks a job that has not ended, and marks it as RUNNING. Undefined if the job has ended or was cancelled, or if its
 * position is not `cursor`, because another attempt has processed this chunk. If the result is undefined, the caller
 * does nothing.
 */
export async function lockJob<Input, Result>(
  trx: Trx,
  p: JobRef & { cursor?: number },
): Promise<LockedJob<Input, Result> | undefined> {
  const at = p.cursor === undefined ? sql<SqlBool>`true` : sql<SqlBool>`cursor = ${p.cursor}`;
  const { rows } = await sql<LockedJob<Input, Result>>`
    UPDATE jobs SET status = 'RUNNING', started_at = coalesce(started_at, now())
    WHERE project_id = ${p.projectId} AND id = ${p.id} AND status IN ('QUEUED', 'RUNNING') AND ${at}
    RETURNING input, result, cursor, processed
  `.execute(trx);
  return rows[0];
}

/**
 * Advances a locked job to its next chunk, in the transaction that writes the changes of the current chunk. A chunk is
 * therefore processed completely or not at all. `after` is the last processed contact, for a job with a condition.
 */
export async function advanceJob(
  trx: Trx,
  p: JobRef & { cursor: number; processed: number; result: ImportResult | BulkResult; after?: string | undefined },
): Promise<void> {
  const input = p.after === undefined ? sql`input` : sql`jsonb_set(input, '{after}', to_jsonb(${p.after}::text))`;
  await sql`
    UPDATE jobs SET cursor = ${p.cursor}, processed = ${p.processed}, total = greatest(total, ${p.processed}), input = ${input},
      result = ${JSON.stringify(p.result)}::jsonb
    WHERE project_id = ${p.projectId} AND id = ${p.id}
  `.execute(trx);
}

/**
 * Returns the status of a job, and why it failed.
 * @throws RowMissing if the job does not exist
 */
export async function getJobStatus(
  db: Db,
  { projectId, id }: JobRef,
): Promise<{ status: JobStatus; failedReason: string | null }> {
  const row = await db
    .selectFrom('jobs')
    .select(['status', 'failed_reason as failedReason'])
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) throw new RowMissing('job', id);
  return row;
}

/**
 * Ends a job. Deletes the file and the input of the job, because a condition in the input can contain the name of a
 * person. Does nothing if the job has already ended.
 */
export async function finishJob(
  db: Db,
  p: JobRef & { status: 'COMPLETED' | 'FAILED' | 'CANCELLED'; failedReason?: string },
): Promise<void> {
  await sql`
    UPDATE jobs SET status = ${p.status}, failed_reason = ${p.failedReason ?? null}, completed_at = now(), file = NULL, input = '{}',
      started_at = coalesce(started_at, now()), total = CASE WHEN ${p.status} = 'COMPLETED' THEN processed ELSE total END
    WHERE project_id = ${p.projectId} AND id = ${p.id} AND status IN ('QUEUED', 'RUNNING')
  `.execute(db);
}

/**
 * Cancels a job that is queued or running. A chunk that is being processed completes, and no further chunk starts.
 * Completed chunks stay and are in the result. The job's Temporal workflow then finds that the job has ended.
 * Cancelling twice has the same effect as cancelling once.
 * @throws AppError NOT_FOUND; CONFLICT for a job that has ended in another way
 */
export async function cancelJob(trx: Trx, { projectId, id }: JobRef): Promise<Job> {
  await finishJob(trx, { projectId, id, status: 'CANCELLED' });
  const job = await getJob(trx, { projectId, id, kinds: JOB_KINDS });
  if (job.status === 'CANCELLED') return job;
  throw new AppError('CONFLICT', {
    message: 'The job has ended: there is nothing left to cancel.',
    details: { status: job.status },
    suggestion: 'Read its result: GET /v1/contacts/bulk/{jobId} or GET /v1/contacts/import/{jobId}.',
  });
}

export function isBulkKind(kind: string): kind is BulkKind {
  return (BULK_KINDS as readonly string[]).includes(kind);
}

/** Returns the result that a job has before its first chunk. */
function newResult(kind: JobKind, total: number): ImportResult | BulkResult {
  if (isBulkKind(kind))
    return { operation: toBulkOperation(kind), totalRequested: total, successCount: 0, failureCount: 0, errors: [] };
  return { totalRows: 0, successCount: 0, createdCount: 0, updatedCount: 0, failureCount: 0, errors: [] };
}

async function insertJob(
  trx: Trx,
  p: { projectId: string; kind: JobKind; input: object; result: object; total: number; file: Buffer | null },
): Promise<{ id: string; outbox: OutboxRow[] }> {
  const job = await trx
    .insertInto('jobs')
    .values({
      project_id: p.projectId,
      kind: p.kind,
      input: JSON.stringify(p.input),
      result: JSON.stringify(p.result),
      total: p.total,
      file: p.file,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const outbox = await enqueue(trx, [
    { projectId: p.projectId, kind: 'job.start', refId: job.id, payload: { kind: p.kind } },
  ]);
  return { id: job.id, outbox };
}
