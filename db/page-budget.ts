import { type RawBuilder, sql } from 'kysely';

/** Maximum size of a list page as JSON, in bytes, so that a few concurrent requests do not exhaust the API's memory. */
export const PAGE_MAX_BYTES = 4_000_000;
/** Bytes per record for the names of fields, and for fields that a response adds to the stored record. */
const RECORD_BYTES = 2_000;
/** Bytes that are reserved for the other fields of a response with lists, such as an execution's context. */
const BESIDE_LISTS_BYTES = 600_000;

/** A record in a list. If `truncated`, its large fields are empty because the page reached its size limit. */
export type Listed<T> = T & { truncated: boolean };

/**
 * The columns that can be large, with their type. For a column of the type jsonb, the number says how many times a
 * response contains the column.
 */
export type LargeColumns = Readonly<Record<string, 'text' | { jsonb: number }>>;

/**
 * Builds the statement for a page that must contain all its rows, even if they exceed the size limit. For the first
 * record that exceeds the limit and for all later records, `truncated` is true and the large columns are empty: '' for
 * text, NULL for jsonb. `rows` selects the rows of the page with all `columns`.
 */
export function fittedPageSql<R>(p: {
  columns: readonly string[];
  large: LargeColumns;
  /** The number of times that the response contains each record. */
  times?: number;
  rows: RawBuilder<unknown>;
}): RawBuilder<Listed<R>> {
  const large = sql.join(Object.entries(p.large).map(sizeExpression), sql` + `);
  const small = sql`${RECORD_BYTES}::int + octet_length((to_jsonb(page) - ${Object.keys(p.large)}::text[])::text)`;
  const maxBytes = Math.floor(PAGE_MAX_BYTES / (p.times ?? 1));
  const columns = sql.join(p.columns.map((name) => toShownColumn(name, p.large[name])));
  return sql<Listed<R>>`
    SELECT ${columns}, NOT fits AS truncated FROM (
      SELECT page.*, sum(${large}) OVER (ORDER BY id DESC) + sum(${small}) OVER () <= ${maxBytes}::int AS fits
      FROM (${p.rows}) page
    ) page ORDER BY id DESC`;
}

function toShownColumn(name: string, large: LargeColumns[string] | undefined): RawBuilder<unknown> {
  const column = sql.ref(name);
  if (large === undefined) return column;
  return large === 'text'
    ? sql`CASE WHEN fits THEN ${column} ELSE '' END AS ${column}`
    : sql`CASE WHEN fits THEN ${column} END AS ${column}`;
}

/** Returns SQL for the size of a column in a JSON response, including escapes. */
function sizeExpression([name, large]: [string, LargeColumns[string]]): RawBuilder<number> {
  const column = sql.ref(name);
  return large === 'text'
    ? sql<number>`coalesce(octet_length(to_json(${column})::text), 0)`
    : sql<number>`${large.jsonb}::int * coalesce(octet_length(${column}::text), 0)`;
}

/**
 * Returns the number of rows, from the first, that fit into a page. At least one if there are rows, so that the next
 * page always has further rows.
 */
export function countFittingRows(sizes: readonly number[]): number {
  let bytes = 0;
  const over = sizes.findIndex((size) => {
    bytes += size + RECORD_BYTES;
    return bytes > PAGE_MAX_BYTES;
  });
  return over < 0 ? sizes.length : Math.max(1, over);
}

/** Returns the size of a value as JSON, in a response that contains it `times` times. */
export function countResponseBytes(value: unknown, times = 1): number {
  return times * Buffer.byteLength(JSON.stringify(value) ?? '');
}

/**
 * Shortens the lists of a response that has no cursor. Each list gets an equal share of the size limit. `truncated` is
 * true if a list was shortened, and absent otherwise.
 * @param besideBytes size of the other fields, if it may exceed the reserved size
 */
export function truncateLists<L extends Record<string, readonly unknown[]>>(
  lists: L,
  besideBytes = 0,
): L & { truncated?: true } {
  const names = Object.keys(lists);
  const share = (PAGE_MAX_BYTES - Math.max(besideBytes, BESIDE_LISTS_BYTES)) / names.length;
  const fitted = names.map((name) => [name, takeLeadingItems(lists[name] ?? [], share)] as const);
  const isCut = fitted.some(([name, items]) => items.length < (lists[name]?.length ?? 0));
  return { ...(Object.fromEntries(fitted) as L), ...(isCut && { truncated: true as const }) };
}

function takeLeadingItems(items: readonly unknown[], maxBytes: number): readonly unknown[] {
  let bytes = 0;
  const over = items.findIndex((item) => {
    bytes += countResponseBytes(item) + 1;
    return bytes > maxBytes;
  });
  return over < 0 ? items : items.slice(0, over);
}
