import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type CursorKey, decodeIdCursor, encodeCursor } from '../rules/cursor.ts';
import { countFittingRows, countResponseBytes } from './page-budget.ts';

/** Requested page of a list. `cursor` is undefined for the first page. */
export interface PageRequest {
  limit: number;
  cursor?: string | undefined;
}

/** A page of a list. `cursor` is null on the last page. */
export interface Page<T> {
  items: T[];
  cursor: string | null;
  hasMore: boolean;
}

/** A page with a number. `page` starts at 1. */
export interface NumberedPage<T> extends Page<T> {
  page: number;
  pageSize: number;
  total: number;
  totalPages: number;
}

/**
 * Returns the SQL condition for the rows after a cursor, in lists that are newest first by a UUIDv7 column. Write
 * `WHERE project_id = … AND ${afterCursorSql(page.cursor)} ORDER BY id DESC LIMIT ${page.limit + 1}` and pass the rows
 * to `toPage`. The id is unique, so no row is repeated or skipped while other rows are inserted or deleted.
 * @throws AppError BAD_REQUEST for an invalid cursor
 */
export function afterCursorSql(cursor: string | undefined, column = 'id'): RawBuilder<SqlBool> {
  if (cursor === undefined) return sql<SqlBool>`true`;
  return sql<SqlBool>`${sql.ref(column)} < ${decodeIdCursor(cursor)}::uuid`;
}

/**
 * Makes a page of the rows, which were read with `LIMIT limit + 1`; an extra row only shows that more rows exist. A
 * page that would exceed `PAGE_MAX_BYTES` has fewer rows, and its cursor continues after them. `countBytes` returns the
 * size of a row, for responses that repeat the row or omit some of its fields.
 */
export function toPage<R extends { id: string }, T>(
  rows: R[],
  limit: number,
  map: (row: R) => T,
  countBytes?: (row: R) => number,
): Page<T> {
  return toKeyedPage(rows, { limit, keyOf: ({ id }) => [id], map, countBytes });
}

/**
 * Like `toPage`, for lists that are sorted by several columns. `keyOf` returns the sort key of a row; the last value of
 * the key is unique.
 */
export function toKeyedPage<R, T>(
  rows: R[],
  p: { limit: number; keyOf: (row: R) => CursorKey; map: (row: R) => T; countBytes?: ((row: R) => number) | undefined },
): Page<T> {
  const most = Math.min(p.limit, countFittingRows(rows.map(p.countBytes ?? ((row) => countResponseBytes(row)))));
  return cutPage(rows, { ...p, most });
}

function cutPage<R, T>(rows: R[], p: { most: number; keyOf: (row: R) => CursorKey; map: (row: R) => T }): Page<T> {
  const { most } = p;
  const shown = rows.slice(0, most);
  const last = shown.at(-1);
  const hasMore = rows.length > most;
  return { items: shown.map(p.map), cursor: hasMore && last ? encodeCursor(p.keyOf(last)) : null, hasMore };
}

/**
 * Returns a page of a list that has both page numbers and cursors (contract §1.6 Lists); if a request has both, the
 * cursor is used. `rows` were read with `LIMIT pageSize + 1`, and with `OFFSET toOffset(request)` if there is no
 * cursor. Read them with `fittedPageSql`, which always returns all rows: if a numbered page had fewer rows, the next
 * page would skip records.
 */
export function toNumberedPage<R extends { id: string }, T>(
  rows: R[],
  p: { page: number; pageSize: number; total: number },
  map: (row: R) => T,
): NumberedPage<T> {
  const keyOf = ({ id }: R): CursorKey => [id];
  return { ...cutPage(rows, { most: p.pageSize, keyOf, map }), ...p, totalPages: Math.ceil(p.total / p.pageSize) };
}

/** Returns the number of rows to skip for a page number. A request with a cursor skips no rows. */
export function toOffset(p: { page: number; pageSize: number; cursor?: string | undefined }): number {
  return p.cursor === undefined ? (p.page - 1) * p.pageSize : 0;
}
