import { type SqlBool, sql } from 'kysely';
import type { AffectedRows } from '../../rules/affected-rows.ts';
import { AppError } from '../../rules/errors.ts';
import { redact } from '../../rules/failure-text.ts';
import type { Db } from '../connection.ts';
import { afterCursorSql, type Page, type PageRequest, toPage } from '../keyset.ts';
import type { RowOf } from '../schema/database.ts';
import { selectEntriesThatCreated } from './request-causes.ts';

/** A request in the log. The log has no bodies, URLs or credentials. */
export interface LoggedRequest {
  id: string;
  /**
   * The X-Request-Id of the response. Callers may choose the request id, and may use the same id several times.
   * Addresses and phone numbers in a request id are not stored, because an erasure would not find them.
   */
  requestId: string;
  method: string;
  /** The documented path, such as `/contacts/{id}`. */
  route: string;
  status: number;
  /** Milliseconds until the response started. */
  ms: number;
  /** `key:<id>`, `user:<id>` or `public`. */
  actor: string;
  errorCode: string | null;
  made: AffectedRows | null;
  createdAt: Date;
}

export type NewLoggedRequest = LoggedRequest & { projectId: string };

const COLUMNS = [
  'id',
  'request_id',
  'method',
  'route',
  'status',
  'ms',
  'actor',
  'error_code',
  'made',
  'created_at',
] as const;

/** Inserts requests, which may belong to several projects, into the log. */
export async function insertRequests(db: Db, requests: readonly NewLoggedRequest[]): Promise<void> {
  if (requests.length === 0) return;
  const toColumn = <T>(of: (request: NewLoggedRequest) => T): T[] => requests.map(of);
  await sql`
    INSERT INTO requests (id, project_id, request_id, method, route, status, ms, actor, error_code, made, created_at)
    SELECT * FROM unnest(${toColumn((r) => r.id)}::uuid[], ${toColumn((r) => r.projectId)}::uuid[], ${toColumn((r) => redact(r.requestId))}::text[],
      ${toColumn((r) => r.method)}::text[], ${toColumn((r) => r.route)}::text[], ${toColumn((r) => r.status)}::smallint[],
      ${toColumn((r) => r.ms)}::real[], ${toColumn((r) => r.actor)}::text[], ${toColumn((r) => r.errorCode)}::text[],
      ${toColumn((r) => r.made && JSON.stringify(r.made))}::jsonb[], ${toColumn((r) => r.createdAt)}::timestamptz[])
  `.execute(db);
}

/** Selects requests that match all conditions. */
export interface RequestFilter {
  method?: string | undefined;
  route?: string | undefined;
  /** Selects statuses from `least` to `most`, including both. */
  status?: { least: number; most: number } | undefined;
  errorCode?: string | undefined;
  /** `key:<id>`, `user:<id>` or `public`. */
  actor?: string | undefined;
  requestId?: string | undefined;
  /** Only requests that created a row with one of these ids. */
  made?: readonly string[] | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

/** Lists requests newest first. */
export async function listRequests(
  db: Db,
  p: PageRequest & RequestFilter & { projectId: string },
): Promise<Page<LoggedRequest>> {
  let query = db
    .selectFrom('requests')
    .select(COLUMNS)
    .where('project_id', '=', p.projectId)
    .where(afterCursorSql(p.cursor));
  if (p.method !== undefined) query = query.where('method', '=', p.method);
  if (p.route !== undefined) query = query.where('route', '=', p.route);
  if (p.status) query = query.where('status', '>=', p.status.least).where('status', '<=', p.status.most);
  // Repeats the predicate of the partial index of refused requests, so that Postgres uses the index to find the few
  // refused requests.
  if ((p.status?.least ?? 0) >= 400 || p.errorCode !== undefined) query = query.where(sql<SqlBool>`status >= 400`);
  if (p.errorCode !== undefined) query = query.where('error_code', '=', p.errorCode);
  if (p.actor !== undefined) query = query.where('actor', '=', p.actor);
  if (p.requestId !== undefined) query = query.where('request_id', '=', redact(p.requestId));
  if (p.made) query = query.where(sql<SqlBool>`id = ANY(ARRAY(${selectEntriesThatCreated(p.projectId, p.made)}))`);
  if (p.since) query = query.where('created_at', '>=', p.since);
  if (p.until) query = query.where('created_at', '<=', p.until);
  const rows = await query
    .orderBy('id', 'desc')
    .limit(p.limit + 1)
    .execute();
  return toPage(rows, p.limit, toRequest);
}

/**
 * Returns a request by the id of its log entry or by its X-Request-Id. If several requests have the same X-Request-Id,
 * returns the newest.
 * @throws AppError NOT_FOUND
 */
export async function getRequest(db: Db, p: { projectId: string; requestId: string }): Promise<LoggedRequest> {
  const row = await db
    .selectFrom('requests')
    .select(COLUMNS)
    .where('project_id', '=', p.projectId)
    .where(({ or, eb }) =>
      or([eb('request_id', '=', redact(p.requestId)), ...(UUID.test(p.requestId) ? [eb('id', '=', p.requestId)] : [])]),
    )
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!row) {
    throw new AppError('NOT_FOUND', {
      message: 'The log has no request with this id.',
      suggestion: 'Requests are logged within a second, and kept for REQUEST_LOG_RETENTION_DAYS.',
    });
  }
  return toRequest(row);
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

function toRequest(row: RowOf<'requests', typeof COLUMNS>): LoggedRequest {
  const { request_id, error_code, created_at, ...rest } = row;
  return { ...rest, requestId: request_id, errorCode: error_code, createdAt: created_at };
}
