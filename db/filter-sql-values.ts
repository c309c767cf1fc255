/** Single values of the filter language in SQL: what `domain/filter-values.ts` says, for a column or a JSON value. */
import { type RawBuilder, sql } from 'kysely';
import { parseIsoDate, type Scalar, spanMs } from '../domain/filter-values.ts';
import type { Filter } from '../domain/filters.ts';

export type Predicate = RawBuilder<boolean>;
type Expression = RawBuilder<unknown>;

/** A value to compare: as jsonb, and its text, which is meant only where `isText` holds. */
export interface ValueSource {
  json: Expression;
  text: Expression;
  isText: Predicate;
}

/** Contact data at a path; a literal key with dots in it goes before the nested one, as in `valueAt`. */
export function jsonSource(data: Expression, path: readonly string[]): ValueSource {
  const key = path.join('.');
  if (path.length === 1) {
    const json = sql`(${data} -> ${key}::text)`;
    return { json, text: sql`(${data} ->> ${key}::text)`, isText: sql`jsonb_typeof${json} = 'string'` };
  }
  const json = sql`coalesce(${data} -> ${key}::text, ${data} #> ${[...path]}::text[])`;
  return { json, text: sql`(${json} #>> '{}')`, isText: sql`jsonb_typeof(${json}) = 'string'` };
}

/** The address: never absent, always text. */
export function emailSource(column: Expression): ValueSource {
  return { json: sql`to_jsonb(${column})`, text: column, isText: sql`true` };
}

/** A filter with a positive value operator on a JSON value or the address; NULL stands for false. */
export function valuePredicate(source: ValueSource, filter: Filter, now: Date): Predicate {
  const { operator, value, unit } = filter;
  switch (operator) {
    case 'exists':
      return sql`jsonb_typeof(${source.json}) <> 'null'`;
    case 'within':
    case 'olderThan': {
      const since = new Date(now.getTime() - spanMs(Number(value), unit ?? 'minutes'));
      const at = sql`tidings_ts(${source.json})`;
      return operator === 'olderThan'
        ? sql`${at} < ${since}::timestamptz`
        : sql`(${at} >= ${since}::timestamptz and ${at} < ${nextMs(now)}::timestamptz)`;
    }
    case 'equals':
    case 'in':
      return equalsAny(source, [value ?? []].flat());
    case 'contains':
      return contains(source, scalar(value));
    case 'startsWith':
      return sql`(starts_with(${folded(source)}, lower(${String(value)}::text)) and ${source.isText})`;
    case 'endsWith':
      return sql`(right(${folded(source)}, length(lower(${String(value)}::text))) = lower(${String(value)}::text) and ${source.isText})`;
    default:
      return ordered(source, operator, scalar(value));
  }
}

/**
 * A filter with a positive value operator on a column of our own (created_at, updated_at). Values are milliseconds, the
 * column has microseconds, so bounds are half open: an instant from an answer of the API finds its row, by an index too.
 */
export function instantPredicate(column: Expression, { operator, value, unit }: Filter, now: Date): Predicate {
  const at = new Date(parseIsoDate(String(value)) ?? Number.NaN);
  switch (operator) {
    case 'exists':
      return sql`true`;
    case 'within':
    case 'olderThan': {
      const since = new Date(now.getTime() - spanMs(Number(value), unit ?? 'minutes'));
      return operator === 'within' ? sql`${column} >= ${since}::timestamptz` : sql`${column} < ${since}::timestamptz`;
    }
    case 'equals':
    case 'in':
      return sql`date_trunc('milliseconds', ${column}) = any(${instants([value ?? []].flat())}::timestamptz[])`;
    case 'greaterThan':
      return sql`${column} >= ${nextMs(at)}::timestamptz`;
    case 'greaterThanOrEqual':
      return sql`${column} >= ${at}::timestamptz`;
    case 'lessThan':
      return sql`${column} < ${at}::timestamptz`;
    case 'lessThanOrEqual':
      return sql`${column} < ${nextMs(at)}::timestamptz`;
    default:
      return sql`false`;
  }
}

/** Equality with any of the values, each by its own type: jsonb for numbers and booleans, folded text, instants. */
function equalsAny(source: ValueSource, values: readonly Scalar[]): Predicate {
  const exact = values.filter((value) => typeof value !== 'string');
  const strings = values.filter((value) => typeof value === 'string');
  const dates = instants(strings);
  const texts = strings.filter((text) => parseIsoDate(text) === undefined);
  const parts: Predicate[] = [];
  if (exact.length > 0) parts.push(sql`${source.json} = any(${exact.map((value) => JSON.stringify(value))}::jsonb[])`);
  if (texts.length > 0) parts.push(sql`(${folded(source)} = ${loweredAny(texts)} and ${source.isText})`);
  if (dates.length > 0) {
    parts.push(sql`date_trunc('milliseconds', tidings_ts(${source.json})) = any(${dates}::timestamptz[])`);
  }
  return parts.length === 0 ? sql`false` : sql`(${sql.join(parts, sql` or `)})`;
}

/** Lowered by Postgres on both sides, so that both follow one table of letters. */
function loweredAny(texts: readonly string[]): Expression {
  const [only] = texts;
  if (texts.length === 1 && only !== undefined) return sql`lower(${only}::text)`;
  return sql`any(array[${sql.join(texts.map((text) => sql`lower(${text}::text)`))}])`;
}

/** An element of a list, or a part of a text. CASE keeps the list functions away from what is no list. */
function contains(source: ValueSource, value: Scalar): Predicate {
  const element: ValueSource = {
    json: sql`element.value`,
    text: sql`(element.value #>> '{}')`,
    isText: sql`jsonb_typeof(element.value) = 'string'`,
  };
  const inList = sql`exists (select 1 from jsonb_array_elements(${source.json}) as element(value)
    where ${equalsAny(element, [value])})`;
  const inText = typeof value === 'string' ? sql`strpos(${folded(source)}, lower(${value}::text)) > 0` : sql`false`;
  return sql`case jsonb_typeof(${source.json}) when 'array' then ${inList} when 'string' then ${inText} else false end`;
}

const SIGNS = { greaterThan: '>', greaterThanOrEqual: '>=', lessThan: '<', lessThanOrEqual: '<=' } as const;

function ordered(source: ValueSource, operator: Filter['operator'], value: Scalar): Predicate {
  const sign = operator in SIGNS ? sql.raw(SIGNS[operator as keyof typeof SIGNS]) : undefined;
  if (!sign) return sql`false`;
  if (typeof value !== 'string') {
    return sql`(jsonb_typeof(${source.json}) = 'number' and ${source.json} ${sign} ${JSON.stringify(value)}::jsonb)`;
  }
  const instant = parseIsoDate(value);
  if (instant === undefined) {
    // By bytes, which for UTF-8 is by code points, whatever the collation of the database.
    return sql`(${source.isText} and ${folded(source)} collate "C" ${sign} lower(${value}::text) collate "C")`;
  }
  return sql`date_trunc('milliseconds', tidings_ts(${source.json})) ${sign} ${new Date(instant)}::timestamptz`;
}

function folded(source: ValueSource): Expression {
  return sql`lower(${source.text})`;
}

function instants(values: readonly Scalar[]): Date[] {
  return values.flatMap((value) => {
    const instant = typeof value === 'string' ? parseIsoDate(value) : undefined;
    return instant === undefined ? [] : [new Date(instant)];
  });
}

function nextMs(at: Date): Date {
  return new Date(at.getTime() + 1);
}

/** The checks of domain/filter-check.ts leave no other shape here. */
function scalar(value: Filter['value']): Scalar {
  return Array.isArray(value) || value === undefined ? '' : value;
}
