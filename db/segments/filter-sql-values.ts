/**
 * Compiles single values of the filter language to SQL, for a column or a JSON value. The result has the meaning of
 * `rules/filters/values.ts`. Postgres has no statistics about the values inside `data`. For a comparison with `=`, its
 * planner estimates that one row in 200 matches, and for three such filters that no row matches. The planner would then
 * search the events of each contact one by one. For a comparison with the function `texteq`, it estimates one row in
 * three, which leads to hash and merge joins: 0.3 s instead of 1.5 s on a million contacts. JSON values are therefore
 * mostly compared by the functions behind the operators, and a test for a type is written as "none of the other types".
 */
import { type RawBuilder, sql } from 'kysely';
import type { FilterClock } from '../../rules/filters/evaluate.ts';
import type { Filter } from '../../rules/filters/filters.ts';
import { parseIsoDate, type Scalar, spanMs } from '../../rules/filters/values.ts';

export type Predicate = RawBuilder<boolean>;
type Expression = RawBuilder<unknown>;

/**
 * A value that a filter compares, as jsonb and as lower-case text. The text is meaningful only where `isText` is true.
 */
export interface ValueSource {
  json: Expression;
  folded: Expression;
  isText: Predicate;
  /** Whether an index supports `=` on `folded`. */
  indexed: boolean;
}

/**
 * Returns the value at a path of the contact's data. As in `readValueAt`, a key that contains dots is used before a
 * nested key.
 */
export function toJsonSource(data: Expression, path: readonly string[]): ValueSource {
  const key = path.join('.');
  const single = path.length === 1;
  const json = single
    ? sql`(${data} -> ${key}::text)`
    : sql`coalesce(${data} -> ${key}::text, ${data} #> ${[...path]}::text[])`;
  const text = single ? sql`(${data} ->> ${key}::text)` : sql`(${json} #>> '{}')`;
  return { json, folded: sql`lower(${text})`, isText: isTypeSql(json, 'string'), indexed: false };
}

/**
 * Returns the address of a contact as a value. An address is never absent, always text, stored in lower case and unique
 * in the project.
 */
export function toEmailSource(column: Expression): ValueSource {
  return { json: sql`to_jsonb(${column})`, folded: column, isText: sql`true`, indexed: true };
}

/** Compiles a filter with a positive operator on a JSON value or the address. The SQL may be NULL instead of false. */
export function valuePredicate(source: ValueSource, filter: Filter, { now, zone }: FilterClock): Predicate {
  const { operator, value, unit } = filter;
  switch (operator) {
    case 'exists':
      return sql`jsonb_typeof(${source.json}) <> 'null'`;
    case 'within':
    case 'olderThan': {
      const since = new Date(now.getTime() - spanMs(Number(value), unit ?? 'minutes'));
      const at = storedInstantSql(source, zone);
      return operator === 'olderThan'
        ? sql`${at} < ${since}::timestamptz`
        : sql`(timestamptz_ge(${at}, ${since}::timestamptz) and timestamptz_lt(${at}, ${addMillisecond(now)}::timestamptz))`;
    }
    case 'withinNext': {
      const until = new Date(now.getTime() + spanMs(Number(value), unit ?? 'minutes'));
      const at = storedInstantSql(source, zone);
      return sql`(timestamptz_ge(${at}, ${now}::timestamptz) and timestamptz_lt(${at}, ${addMillisecond(until)}::timestamptz))`;
    }
    case 'equals':
    case 'in':
      return equalsAnyPredicate(source, [value ?? []].flat(), zone);
    case 'contains':
      return containsPredicate(source, toScalar(value), zone);
    case 'startsWith':
      return sql`(starts_with(${source.folded}, lower(${String(value)}::text)) and ${source.isText})`;
    case 'endsWith':
      return endsWithPredicate(source, String(value));
    default:
      return orderedPredicate(source, { operator, value: toScalar(value), zone });
  }
}

/**
 * Compiles a filter with a positive operator on a timestamp column (`created_at`, `updated_at`). A filter's value has
 * milliseconds and the column has microseconds. The SQL therefore ignores the microseconds: order comparisons use
 * half-open ranges of a millisecond, which an index supports, and equality truncates the column. A filter with an
 * instant from an API response then finds the row of the response.
 */
export function instantPredicate(
  column: Expression,
  { operator, value, unit }: Filter,
  { now, zone }: FilterClock,
): Predicate {
  const at = new Date(parseIsoDate(String(value), zone) ?? Number.NaN);
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
      return sql`date_trunc('milliseconds', ${column}) = any(${toInstants([value ?? []].flat(), zone)}::timestamptz[])`;
    case 'greaterThan':
      return sql`${column} >= ${addMillisecond(at)}::timestamptz`;
    case 'greaterThanOrEqual':
      return sql`${column} >= ${at}::timestamptz`;
    case 'lessThan':
      return sql`${column} < ${at}::timestamptz`;
    case 'lessThanOrEqual':
      return sql`${column} < ${addMillisecond(at)}::timestamptz`;
    default:
      return sql`false`;
  }
}

/**
 * Compiles equality with any of the values. Compares each value by its type: numbers and booleans as jsonb, text in
 * lower case, and instants as instants.
 */
function equalsAnyPredicate(source: ValueSource, values: readonly Scalar[], zone: string | undefined): Predicate {
  const strings = values.filter((value) => typeof value === 'string');
  const texts = strings.filter((text) => parseIsoDate(text) === undefined);
  const exact = values.filter((value) => typeof value !== 'string').map((value) => JSON.stringify(value));
  const dates = toInstants(strings, zone);
  const parts: Predicate[] = [];
  if (exact.length > MAX_ALTERNATIVES) parts.push(sql`${source.json} = any(${exact}::jsonb[])`);
  else parts.push(...exact.map((value) => sql<boolean>`jsonb_eq(${source.json}, ${value}::jsonb)`));
  if (texts.length > 0) parts.push(equalsTextPredicate(source, texts));
  if (dates.length > 0) {
    parts.push(sql`date_trunc('milliseconds', ${storedInstantSql(source, zone)}) = any(${dates}::timestamptz[])`);
  }
  return parts.length === 0 ? sql`false` : sql`(${sql.join(parts, sql` or `)})`;
}

/**
 * A list with more values than this becomes one `= ANY`, because the planner's estimate of one row in 200 per value is
 * then high enough.
 */
const MAX_ALTERNATIVES = 20;
/**
 * Matches text that could also be a JSON number, boolean, list or object. Only such text needs a test of the stored
 * value's type.
 */
const LIKE_JSON = /^(?:[-\d[{]|true$|false$)/i;

/** SQL `lower` converts both sides, so that both follow the same rules for upper and lower case. */
function equalsTextPredicate(source: ValueSource, texts: readonly string[]): Predicate {
  const lowered = texts.map((text) => sql`lower(${text}::text)`);
  const listed = source.indexed || texts.length > MAX_ALTERNATIVES;
  const equal = listed
    ? sql<boolean>`${source.folded} = any(array[${sql.join(lowered)}])`
    : sql<boolean>`(${sql.join(
        lowered.map((text) => sql`texteq(${source.folded}, ${text})`),
        sql` or `,
      )})`;
  return texts.some((text) => LIKE_JSON.test(text)) ? sql`(${equal} and ${source.isText})` : equal;
}

function endsWithPredicate(source: ValueSource, text: string): Predicate {
  const end = sql`lower(${text}::text)`;
  return sql`(texteq(right(${source.folded}, length(${end})), ${end}) and ${source.isText})`;
}

const JSON_TYPES = ['string', 'number', 'boolean', 'array', 'object', 'null'] as const;

function isTypeSql(json: Expression, type: (typeof JSON_TYPES)[number]): Predicate {
  return sql`jsonb_typeof(${json}) <> all(${JSON_TYPES.filter((other) => other !== type)}::text[])`;
}

/** Characters that JSON escapes. */
const ESCAPED = /["\\\p{Cc}]/u;

/**
 * Compiles a search for an element of a list, or for a substring of a text. CASE prevents list functions from being
 * called with values that are not lists. The SQL has no subquery where possible, because Postgres does not run a filter
 * with a subquery in parallel.
 */
function containsPredicate(source: ValueSource, value: Scalar, zone: string | undefined): Predicate {
  if (typeof value !== 'string') return containsJsonPredicate(source, value);
  const wanted = sql`lower(${value}::text)`;
  const inText = sql<boolean>`strpos(${source.folded}, ${wanted}) > 0`;
  if (source.indexed) return inText;
  if (parseIsoDate(value) !== undefined)
    return choosePredicateByType(source, { list: containsInstantPredicate(source, value, zone), text: inText });
  // JSON is still valid JSON after conversion to lower case.
  const list = sql<boolean>`jsonb_exists((${source.folded})::jsonb, ${wanted})`;
  if (ESCAPED.test(value)) return choosePredicateByType(source, { list, text: inText });
  // Few rows contain the value, in a list or in a text. The exact test is evaluated only for rows that contain the
  // value.
  return sql`(${inText} and ${choosePredicateByType(source, { list, text: sql`true` })})`;
}

function choosePredicateByType({ json }: ValueSource, of: { list: Predicate; text: Predicate }): Predicate {
  return sql`case jsonb_typeof(${json}) when 'array' then ${of.list} when 'string' then ${of.text} else false end`;
}

function containsJsonPredicate(source: ValueSource, value: Exclude<Scalar, string>): Predicate {
  const list = sql<boolean>`jsonb_contains(${source.json}, ${JSON.stringify(value)}::jsonb)`;
  return choosePredicateByType(source, { list, text: sql`false` });
}

function containsInstantPredicate(source: ValueSource, value: string, zone: string | undefined): Predicate {
  const element: ValueSource = {
    json: sql`element.value`,
    folded: sql`lower(element.value #>> '{}')`,
    isText: isTypeSql(sql`element.value`, 'string'),
    indexed: false,
  };
  return sql`exists (select 1 from jsonb_array_elements(${source.json}) as element(value)
    where ${equalsAnyPredicate(element, [value], zone)})`;
}

/** The last part of the names of the functions behind <, <=, > and >=. */
const ORDERS = { greaterThan: 'gt', greaterThanOrEqual: 'ge', lessThan: 'lt', lessThanOrEqual: 'le' } as const;

function orderedPredicate(
  source: ValueSource,
  { operator, value, zone }: { operator: Filter['operator']; value: Scalar; zone: string | undefined },
): Predicate {
  if (!isOrdering(operator)) return sql`false`;
  const compare = (type: string) => sql.raw(`${type}_${ORDERS[operator]}`);
  if (typeof value !== 'string') {
    const holds = sql`${compare('jsonb')}(${source.json}, ${JSON.stringify(value)}::jsonb)`;
    return sql`(${holds} and ${isTypeSql(source.json, 'number')})`;
  }
  const instant = parseIsoDate(value, zone);
  if (instant === undefined) {
    // Compares by bytes, independent of the database's collation. For UTF-8, this is the order of code points.
    const holds = sql`${compare('text')}(${source.folded} collate "C", lower(${value}::text) collate "C")`;
    return sql`(${holds} and ${source.isText})`;
  }
  const at = sql`date_trunc('milliseconds', ${storedInstantSql(source, zone)})`;
  return sql`${compare('timestamptz')}(${at}, ${new Date(instant)}::timestamptz)`;
}

function isOrdering(operator: Filter['operator']): operator is keyof typeof ORDERS {
  return operator in ORDERS;
}

/**
 * Returns SQL for the instant of a stored text. A text without an offset is a local time in the zone. For UTC, the
 * variant without zone rules is used, because it is faster.
 */
function storedInstantSql({ json }: ValueSource, zone = 'UTC'): RawBuilder<unknown> {
  return zone === 'UTC' ? sql`tidings_ts(${json})` : sql`tidings_ts(${json}, ${zone}::text)`;
}

function toInstants(values: readonly Scalar[], zone: string | undefined): Date[] {
  return values.flatMap((value) => {
    const instant = typeof value === 'string' ? parseIsoDate(value, zone) : undefined;
    return instant === undefined ? [] : [new Date(instant)];
  });
}

function addMillisecond(at: Date): Date {
  return new Date(at.getTime() + 1);
}

/** Returns a single value. `rules/filters/check.ts` has refused lists for the operators that call this function. */
function toScalar(value: Filter['value']): Scalar {
  return Array.isArray(value) || value === undefined ? '' : value;
}
