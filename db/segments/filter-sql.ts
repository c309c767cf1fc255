/**
 * Compiles a condition to one parameterized SQL condition on a row of `contacts`, for audiences, segments and CONDITION
 * steps. A property test checks that the result is the same as that of `rules/filters/evaluate.ts`. Source: contract
 * §5.2, §7.2. The SQL never raises an error because of the stored data: JSON values are compared as jsonb after a test
 * of their type, and not cast to other types. EXISTS is placed at the top level of an AND where the condition allows
 * it, because Postgres converts it to a semi-join there.
 */
import { type RawBuilder, sql } from 'kysely';
import { AppError } from '../../rules/errors.ts';
import { evaluateValueFilter, type FilterClock } from '../../rules/filters/evaluate.ts';
import { type EmailActivity, type FieldRef, parseField, type ValueOperator } from '../../rules/filters/fields.ts';
import type { Condition, Filter, Group } from '../../rules/filters/filters.ts';
import { readValueAt, spanMs } from '../../rules/filters/values.ts';
import { instantPredicate, type Predicate, toEmailSource, toJsonSource, valuePredicate } from './filter-sql-values.ts';

/** How to find the members of a segment: by the stored members, or by its condition. */
export type SegmentSource = { kind: 'members' } | { kind: 'condition'; condition: Condition };
/** The sources by segment id in lower case. A segment that is not in the map has no members. */
export type SegmentSources = ReadonlyMap<string, SegmentSource>;

export interface CompileOptions extends FilterClock {
  projectId: string;
  /** The project's time zone, from `loadConditionSources`. */
  zone: string | undefined;
  /**
   * All segments that the condition uses, directly or through other segments, from `loadConditionSources` in
   * db/segments/sources.ts.
   */
  segments: SegmentSources;
  /** Alias of `contacts` in the query; `contacts` itself by default. */
  alias?: string;
  /** The data that `event.<key>` and `context.<key>` read in a CONDITION step. */
  step?: { event: unknown; context: unknown };
}

/**
 * Maximum number of filters in one statement, including the filters of inlined segments. Planning this many takes at
 * most two seconds.
 */
const MAX_COMPILED_FILTERS = 2_000;

/**
 * The number of EXISTS that Postgres may convert to joins. Planning time grows steeply with this number: 20 joins take
 * 0.1 s, and 100 take 4 s; any caller could send such a condition. Further EXISTS stay subqueries, which take 1 ms each
 * to plan.
 */
const MAX_JOINS = 8;

/**
 * Returns the SQL of a condition for WHERE. For a contact that does not match, it may be NULL instead of false, so use
 * `(… ) IS TRUE` in a SELECT list or after NOT. The query itself must restrict the rows to the project's contacts.
 * @throws AppError CONFLICT when segments refer to each other in a cycle, or when the condition and its segments have
 * too many filters together
 */
export function compileCondition(condition: Condition, options: CompileOptions): RawBuilder<boolean> {
  const scope: Scope = { ...options, alias: options.alias ?? 'contacts', inside: [], budget: { filters: 0, joins: 0 } };
  return compileGroups(condition, scope);
}

interface Scope extends CompileOptions {
  alias: string;
  /** Ids of the segments whose conditions are being inlined, outermost first. */
  inside: readonly string[];
  budget: { filters: number; joins: number };
}

function compileGroups({ logic, groups }: Condition, scope: Scope): Predicate {
  const parts = groups.map((group) => compileGroup(group, scope));
  return logic === 'AND' ? allOf(parts) : anyOf(parts);
}

function compileGroup(group: Group, scope: Scope): Predicate {
  const parts = group.filters.map((filter) => compileFilter(filter, scope));
  if (group.conditions) parts.push(compileGroups(group.conditions, scope));
  return allOf(parts);
}

function compileFilter(filter: Filter, scope: Scope): Predicate {
  scope.budget.filters += 1;
  if (scope.budget.filters > MAX_COMPILED_FILTERS) {
    throw new AppError('CONFLICT', {
      message: 'The condition and the segments it names are too large together.',
      details: { most: MAX_COMPILED_FILTERS },
      suggestion:
        'Use fewer filters, or track the named segments (trackMembership: true), so that they are not inlined.',
    });
  }
  const ref = parseField(filter.field, filter.operator, scope.step ? 'step' : 'audience');
  return ref ? compileRef(filter, ref, scope) : sql`false`;
}

function compileRef(filter: Filter, ref: FieldRef, scope: Scope): Predicate {
  const column = (name: string) => sql<boolean>`${sql.ref(`${scope.alias}.${name}`)}`;
  switch (ref.kind) {
    case 'email':
      return compileNegatable(filter, (positive) => valuePredicate(toEmailSource(column('email')), positive, scope));
    case 'subscribed':
      return compileNegatable(filter, (positive) => subscribedPredicate(column('subscribed'), positive));
    case 'createdAt':
      return compileNegatable(filter, (positive) => instantPredicate(column('created_at'), positive, scope));
    case 'updatedAt':
      return compileNegatable(filter, (positive) => instantPredicate(column('updated_at'), positive, scope));
    case 'data':
      return compileNegatable(filter, (positive) =>
        valuePredicate(toJsonSource(column('data'), ref.path), positive, scope),
      );
    case 'payload':
      return constantPredicate(evaluateValueFilter(filter, readValueAt(scope.step?.event, ref.path), scope));
    case 'context':
      return constantPredicate(evaluateValueFilter(filter, readValueAt(scope.step?.context, ref.path), scope));
    case 'event':
      return historyPredicate(filter, scope.now, (since) => eventPredicate(ref.name, since, scope));
    case 'activity':
      return historyPredicate(filter, scope.now, (since) => emailPredicate(ref.activity, since, scope));
    case 'topic':
      return compileNegatable(filter, (positive) => subscribedPredicate(topicPredicate(ref.topicId, scope), positive));
    case 'segment':
      return membershipPredicate(ref.segmentId, filter.operator === 'memberOf', scope);
  }
}

const POSITIVE: Partial<Record<Filter['operator'], ValueOperator>> = {
  notEquals: 'equals',
  notContains: 'contains',
  notIn: 'in',
  notExists: 'exists',
};

/**
 * Compiles a filter whose operator may be negative. A negative operator matches all contacts that the positive operator
 * does not match, including contacts without the field.
 */
function compileNegatable(filter: Filter, compile: (positive: Filter) => Predicate): Predicate {
  const positive = POSITIVE[filter.operator];
  return positive ? negate(compile({ ...filter, operator: positive })) : compile(filter);
}

function subscribedPredicate(column: Predicate, { operator, value }: Filter): Predicate {
  if (operator === 'exists') return sql`true`;
  return sql`${column} = any(${[value].flat()}::boolean[])`;
}

/**
 * Compiles a filter on events or emails of the past. `happened(since)` returns SQL that is true if at least one event
 * or email happened at or after the instant. Without an instant, the SQL is true if at least one event or email ever
 * happened.
 */
function historyPredicate(filter: Filter, now: Date, happened: (since?: Date) => Predicate): Predicate {
  const since = new Date(now.getTime() - spanMs(Number(filter.value ?? 0), filter.unit ?? 'minutes'));
  switch (filter.operator) {
    case 'triggered':
      return happened();
    case 'notTriggered':
      return sql`not ${happened()}`;
    case 'triggeredWithin':
      return happened(since);
    case 'notTriggeredWithin':
      return sql`not ${happened(since)}`;
    case 'triggeredOlderThan':
      return sql`(${happened()} and not ${happened(since)})`;
    default:
      return sql`false`;
  }
}

/** Compiles the test that a contact has joined a topic. For a topic of another project, the test is false. */
function topicPredicate(topicId: string, scope: Scope): Predicate {
  return sql`coalesce(
    (select s.joined from topic_choices s where s.contact_id = ${sql.ref(`${scope.alias}.id`)} and s.topic_id = ${topicId}::uuid),
    (select t.default_subscribed from topics t where t.id = ${topicId}::uuid and t.project_id = ${scope.projectId}::uuid), false)`;
}

/**
 * Compiles the test for an event. The test needs only the index `events_name` (project_id, name, contact_id,
 * created_at).
 */
function eventPredicate(name: string, since: Date | undefined, scope: Scope): Predicate {
  return existsPredicate(
    sql`select 1 from events e where e.project_id = ${scope.projectId}::uuid and e.name = ${name}
      and e.contact_id = ${sql.ref(`${scope.alias}.id`)}${sinceClause(sql`e.created_at`, since)}`,
    scope,
  );
}

/**
 * Compiles the test for an email. The test uses the index `emails_contact`. No index has the instants, because such an
 * index would make updates of the ledger expensive. Only live email counts.
 */
function emailPredicate(activity: EmailActivity, since: Date | undefined, scope: Scope): Predicate {
  const at = sql`${sql.ref(`m.${activity}_at`)}`;
  return existsPredicate(
    sql`select 1 from emails m where m.project_id = ${scope.projectId}::uuid and m.mode = 'live'
      and m.contact_id = ${sql.ref(`${scope.alias}.id`)} and ${at} is not null${sinceClause(at, since)}`,
    scope,
  );
}

/**
 * Returns EXISTS for a query. After `MAX_JOINS` of them, adds IS TRUE: the result is the same, but Postgres does not
 * convert the subquery to a join.
 */
function existsPredicate(query: RawBuilder<unknown>, { budget }: Scope): Predicate {
  budget.joins += 1;
  return budget.joins <= MAX_JOINS ? sql`exists (${query})` : sql`((exists (${query})) is true)`;
}

function sinceClause(at: RawBuilder<unknown>, since: Date | undefined): RawBuilder<unknown> {
  return since ? sql` and ${at} >= ${since}::timestamptz` : sql``;
}

function membershipPredicate(segmentId: string, member: boolean, scope: Scope): Predicate {
  const source = scope.segments.get(segmentId);
  if (!source) return constantPredicate(!member);
  if (source.kind === 'members') {
    const stored = existsPredicate(
      sql`select 1 from segment_members s where s.segment_id = ${segmentId}::uuid
        and s.project_id = ${scope.projectId}::uuid and s.contact_id = ${sql.ref(`${scope.alias}.id`)}`,
      scope,
    );
    // NOT EXISTS can become an anti-join; IS NOT TRUE cannot.
    return member ? stored : sql`not ${stored}`;
  }
  const inlined = inlineSegment(segmentId, source.condition, scope);
  return member ? inlined : negate(inlined);
}

function inlineSegment(segmentId: string, condition: Condition, scope: Scope): Predicate {
  if (scope.inside.includes(segmentId)) {
    throw new AppError('CONFLICT', {
      message: 'Segments refer to each other in a cycle.',
      details: { segmentId },
      suggestion: 'Remove the filter that names a segment from one of them.',
    });
  }
  return compileGroups(condition, { ...scope, step: undefined, inside: [...scope.inside, segmentId] });
}

function negate(predicate: Predicate): Predicate {
  return sql`(${predicate}) is not true`;
}

function constantPredicate(holds: boolean): Predicate {
  return holds ? sql`true` : sql`false`;
}

function allOf(parts: readonly Predicate[]): Predicate {
  return parts.length === 0 ? sql`true` : sql`(${sql.join(parts, sql` and `)})`;
}

function anyOf(parts: readonly Predicate[]): Predicate {
  return parts.length === 0 ? sql`false` : sql`(${sql.join(parts, sql` or `)})`;
}
