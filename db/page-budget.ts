import { type RawBuilder, sql } from 'kysely';

/**
 * Bytes of JSON that one page of a list carries at most, so that a few callers at a time do not take the memory of the
 * API.
 */
export const PAGE_MAX_BYTES = 4 * 1024 * 1024;
/** Of a record's other fields, more than they have. */
const RECORD_BYTES = 2_000;

/** A record as a list has it: where `truncated`, its large fields are empty, for the page is full. */
export type Listed<T> = T & { truncated: boolean };

/** A column that can be large: text, or jsonb that an answer shows so many times. */
export type LargeColumns = Readonly<Record<string, 'text' | { jsonb: number }>>;

/**
 * The statement of a page whose rows all have to be there, newest first, though together they may pass what an answer
 * carries: from the record on with which they do, the large columns are empty and `truncated` says so. `rows` selects
 * `columns` of the page.
 */
export function fittedPage<R>(p: {
  columns: readonly string[];
  large: LargeColumns;
  rows: RawBuilder<unknown>;
}): RawBuilder<Listed<R>> {
  const bytes = sql.join([sql`${RECORD_BYTES}::int`, ...Object.entries(p.large).map(bytesOf)], sql` + `);
  const columns = sql.join(p.columns.map((name) => shown(name, p.large[name])));
  return sql<Listed<R>>`
    SELECT ${columns}, NOT fits AS truncated FROM (
      SELECT page.*, sum(${bytes}) OVER (ORDER BY id DESC) <= ${PAGE_MAX_BYTES}::int AS fits FROM (${p.rows}) page
    ) page ORDER BY id DESC`;
}

function shown(name: string, large: LargeColumns[string] | undefined): RawBuilder<unknown> {
  const column = sql.ref(name);
  if (large === undefined) return column;
  return large === 'text'
    ? sql`CASE WHEN fits THEN ${column} ELSE '' END AS ${column}`
    : sql`CASE WHEN fits THEN ${column} END AS ${column}`;
}

/** What a column costs in an answer, with its escapes. */
function bytesOf([name, large]: [string, LargeColumns[string]]): RawBuilder<number> {
  const column = sql.ref(name);
  return large === 'text'
    ? sql<number>`coalesce(octet_length(to_json(${column})::text), 0)`
    : sql<number>`${large.jsonb}::int * coalesce(octet_length(${column}::text), 0)`;
}

/** How many of the first rows fit into a page by the bytes of each; at least one, so that a list goes on. */
export function fittingCount(sizes: readonly number[]): number {
  let bytes = 0;
  const over = sizes.findIndex((size) => {
    bytes += size + RECORD_BYTES;
    return bytes > PAGE_MAX_BYTES;
  });
  return over < 0 ? sizes.length : Math.max(1, over);
}

/** Bytes of a value as JSON in an answer that shows it `times` times. */
export function answeredBytes(value: unknown, times = 1): number {
  return times * Buffer.byteLength(JSON.stringify(value) ?? '');
}
