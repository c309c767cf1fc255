/**
 * Evaluates conditions in memory. `db/segments/filter-sql.ts` evaluates the same language in SQL, and both must agree.
 * In production, this file evaluates the parts of a CONDITION step that are not columns (the payload of the trigger,
 * the context), and the filters of waits and exits. Source: contract §5.2, §7.2.
 */
import {
  type FieldRef,
  type FilterScope,
  type HistoryOperator,
  isHistoryOperator,
  isValueOperator,
  parseField,
  type ValueOperator,
} from './fields.ts';
import type { Condition, Filter, FilterValue } from './filters.ts';
import { compareValue, equalsValue, foldCase, parseIsoDate, readValueAt, type Scalar, spanMs } from './values.ts';

/** When each activity of one email happened. Callers never pass test emails. */
export interface EmailActivityTimes {
  sent?: Date | null;
  delivered?: Date | null;
  opened?: Date | null;
  clicked?: Date | null;
  bounced?: Date | null;
  complained?: Date | null;
}

/** The current time, and the project's time zone, which applies to date-times without an offset. */
export interface FilterClock {
  now: Date;
  zone?: string | undefined;
}

/** All facts about a contact that a condition can read. */
export interface FilterWorld extends FilterClock {
  contact: { email: string; subscribed: boolean; createdAt: Date; updatedAt: Date; data: Record<string, unknown> };
  events: readonly { name: string; createdAt: Date }[];
  emails: readonly EmailActivityTimes[];
  /** The ids of the contact's segments, in lower case. */
  segmentIds: ReadonlySet<string>;
  /**
   * By id of the topic, in lower case: whether the contact is subscribed to the topic. For a topic that is missing
   * here, the contact counts as not subscribed.
   */
  topics?: ReadonlyMap<string, boolean>;
  /** In a CONDITION step: the data of the event that started the execution. */
  payload?: unknown;
  /** In a CONDITION step: the `context` of the request that started the execution. */
  context?: unknown;
}

/**
 * Tells whether a contact matches a condition. Only tests call this function, to compare the evaluation in memory with
 * SQL.
 */
export function evaluateCondition(condition: Condition, world: FilterWorld, scope: FilterScope = 'audience'): boolean {
  return evaluateGroups(condition, (filter) => {
    const ref = parseField(filter.field, filter.operator, scope);
    return ref !== undefined && evaluateFilter(filter, ref, world);
  });
}

/**
 * Tells whether the data of an event matches the filters of a wait or an exit. Without a condition, any event with the
 * name matches.
 */
export function matchesEventData(condition: Condition | null | undefined, data: unknown, clock: FilterClock): boolean {
  if (!condition) return true;
  return evaluateGroups(condition, (filter) => {
    const ref = parseField(filter.field, filter.operator, 'wait');
    return ref?.kind === 'payload' && evaluateValueFilter(filter, readValueAt(data, ref.path), clock);
  });
}

/**
 * Tells whether a stored value matches a filter with a value operator. Undefined and null mean that the field is
 * missing.
 */
export function evaluateValueFilter(filter: Filter, stored: unknown, clock: FilterClock): boolean {
  const { operator, value, unit } = filter;
  if (!isValueOperator(operator)) return false;
  const positive = POSITIVE[operator];
  if (positive) return !evaluateValueFilter({ ...filter, operator: positive }, stored, clock);
  if (stored === undefined || stored === null) return false;
  if (operator === 'exists') return true;
  if (operator === 'within' || operator === 'withinNext' || operator === 'olderThan') {
    return (
      typeof value === 'number' && unit !== undefined && matchesInTime(operator, stored, clock, spanMs(value, unit))
    );
  }
  return value !== undefined && matchesValue(operator, stored, { value, zone: clock.zone });
}

/**
 * The positive operator for each negative operator. A negative operator matches exactly if the positive one does not,
 * also for a missing field.
 */
const POSITIVE: Partial<Record<ValueOperator, ValueOperator>> = {
  notEquals: 'equals',
  notContains: 'contains',
  notIn: 'in',
  notExists: 'exists',
};

function evaluateGroups(condition: Condition, matches: (filter: Filter) => boolean): boolean {
  const groups = condition.groups.map(
    (group) => group.filters.every(matches) && (!group.conditions || evaluateGroups(group.conditions, matches)),
  );
  return condition.logic === 'AND' ? groups.every(Boolean) : groups.some(Boolean);
}

function evaluateFilter(filter: Filter, ref: FieldRef, world: FilterWorld): boolean {
  switch (ref.kind) {
    case 'email':
      return evaluateValueFilter(filter, world.contact.email, world);
    case 'subscribed':
      return evaluateValueFilter(filter, world.contact.subscribed, world);
    case 'createdAt':
    case 'updatedAt':
      return evaluateServiceInstant(filter, world.contact[ref.kind], world);
    case 'data':
      return evaluateValueFilter(filter, readValueAt(world.contact.data, ref.path), world);
    case 'payload':
      return evaluateValueFilter(filter, readValueAt(world.payload, ref.path), world);
    case 'context':
      return evaluateValueFilter(filter, readValueAt(world.context, ref.path), world);
    case 'event': {
      const times = world.events.filter((event) => event.name === ref.name).map((event) => event.createdAt);
      return evaluateHistory(filter, times, world.now);
    }
    case 'activity': {
      const times = world.emails.map((email) => email[ref.activity]).filter((at) => at !== null && at !== undefined);
      return evaluateHistory(filter, times, world.now);
    }
    case 'topic':
      return evaluateValueFilter(filter, world.topics?.get(ref.topicId) ?? false, world);
    case 'segment':
      return world.segmentIds.has(ref.segmentId) === (filter.operator === 'memberOf');
  }
}

/**
 * Evaluates a filter on an instant that the service wrote (`createdAt`, `updatedAt`). An instant that the service wrote
 * is never really in the future, so `within` needs no upper limit here. An instant that seems to be in the future,
 * because the times of hosts differ slightly, then matches.
 */
function evaluateServiceInstant(filter: Filter, at: Date, clock: FilterClock): boolean {
  const { operator, value, unit } = filter;
  if (operator !== 'within') return evaluateValueFilter(filter, at.toISOString(), clock);
  return typeof value === 'number' && unit !== undefined && at.getTime() >= clock.now.getTime() - spanMs(value, unit);
}

function evaluateHistory({ operator, value, unit }: Filter, times: readonly Date[], now: Date): boolean {
  if (!isHistoryOperator(operator)) return false;
  const span = typeof value === 'number' && unit ? spanMs(value, unit) : 0;
  const since = now.getTime() - span;
  return matchesHistory(
    operator,
    times.length > 0,
    times.some((at) => at.getTime() >= since),
  );
}

/**
 * Evaluates an operator on the times of events. `ever` means that there is at least one event, and `recent` that at
 * least one is within the span. `triggeredOlderThan` matches if there are events and all of them are older than the
 * span.
 */
function matchesHistory(operator: HistoryOperator, ever: boolean, recent: boolean): boolean {
  switch (operator) {
    case 'triggered':
      return ever;
    case 'notTriggered':
      return !ever;
    case 'triggeredWithin':
      return recent;
    case 'notTriggeredWithin':
      return !recent;
    case 'triggeredOlderThan':
      return ever && !recent;
  }
}

/**
 * Evaluates an operator that is relative to the current time. `within` ends now and `withinNext` starts now. A future
 * date therefore matches neither `within` nor `olderThan`.
 */
function matchesInTime(
  operator: 'within' | 'withinNext' | 'olderThan',
  stored: unknown,
  { now, zone }: FilterClock,
  span: number,
): boolean {
  const instant = typeof stored === 'string' ? parseIsoDate(stored, zone) : undefined;
  if (instant === undefined) return false;
  const nowMs = now.getTime();
  switch (operator) {
    case 'within':
      return instant >= nowMs - span && instant <= nowMs;
    case 'withinNext':
      return instant >= nowMs && instant <= nowMs + span;
    case 'olderThan':
      return instant < nowMs - span;
  }
}

/** A filter's value, and the time zone for date-times without an offset. */
interface ZonedValue {
  value: FilterValue;
  zone: string | undefined;
}

function matchesValue(operator: ValueOperator, stored: unknown, { value, zone }: ZonedValue): boolean {
  if (Array.isArray(value)) return operator === 'in' && value.some((item) => equalsValue(stored, item, zone));
  switch (operator) {
    case 'equals':
      return equalsValue(stored, value, zone);
    case 'contains':
      return containsValue(stored, value, zone);
    case 'startsWith':
      return isText(stored, value) && foldCase(stored).startsWith(foldCase(String(value)));
    case 'endsWith':
      return isText(stored, value) && foldCase(stored).endsWith(foldCase(String(value)));
    default:
      return typeof value !== 'boolean' && matchesOrder(operator, compareValue(stored, value, zone));
  }
}

function isText(stored: unknown, value: Scalar): stored is string {
  return typeof stored === 'string' && typeof value === 'string';
}

/** Tells whether a stored list has the value as an element, or whether a stored text contains the value. */
function containsValue(stored: unknown, value: Scalar, zone: string | undefined): boolean {
  if (Array.isArray(stored)) return stored.some((item) => equalsValue(item, value, zone));
  return isText(stored, value) && foldCase(stored).includes(foldCase(String(value)));
}

function matchesOrder(operator: ValueOperator, order: number | undefined): boolean {
  if (order === undefined) return false;
  switch (operator) {
    case 'greaterThan':
      return order > 0;
    case 'greaterThanOrEqual':
      return order >= 0;
    case 'lessThan':
      return order < 0;
    case 'lessThanOrEqual':
      return order <= 0;
    default:
      return false;
  }
}
