/** The names of the filter language: operators, units, fields, and their valid combinations (contract §5.2, §7.2). */

export const VALUE_OPERATORS = [
  'equals',
  'notEquals',
  'contains',
  'notContains',
  'startsWith',
  'endsWith',
  'greaterThan',
  'lessThan',
  'greaterThanOrEqual',
  'lessThanOrEqual',
  'in',
  'notIn',
  'exists',
  'notExists',
  'within',
  'withinNext',
  'olderThan',
] as const;
export const HISTORY_OPERATORS = [
  'triggered',
  'notTriggered',
  'triggeredWithin',
  'notTriggeredWithin',
  'triggeredOlderThan',
] as const;
const MEMBERSHIP_OPERATORS = ['memberOf', 'notMemberOf'] as const;
export const OPERATORS = [...VALUE_OPERATORS, ...HISTORY_OPERATORS, ...MEMBERSHIP_OPERATORS] as const;
export const UNITS = ['minutes', 'hours', 'days', 'weeks'] as const;
export const EMAIL_ACTIVITIES = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained'] as const;

export type ValueOperator = (typeof VALUE_OPERATORS)[number];
export type HistoryOperator = (typeof HISTORY_OPERATORS)[number];
export type Operator = (typeof OPERATORS)[number];
export type Unit = (typeof UNITS)[number];
export type EmailActivity = (typeof EMAIL_ACTIVITIES)[number];

/**
 * The place of a filter, which determines its fields. `audience`: segments and campaigns. `step`: a CONDITION step,
 * which can also use `event.<key>` of the trigger's payload and `context.<key>`. `wait`: the filters of a
 * WAIT_FOR_EVENT step or of an exit, which can use only the event's data.
 */
export type FilterScope = 'audience' | 'step' | 'wait';

export type FieldRef =
  | { kind: 'email' | 'subscribed' | 'createdAt' | 'updatedAt' }
  | { kind: 'data' | 'context' | 'payload'; path: readonly string[] }
  | { kind: 'event'; name: string }
  | { kind: 'activity'; activity: EmailActivity }
  | { kind: 'segment'; segmentId: string }
  | { kind: 'topic'; topicId: string };
export type FieldKind = FieldRef['kind'];

/** The maximum number of keys in a path. A longer path is probably a mistake. */
const MAX_PATH_KEYS = 10;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const COMPARING = ['greaterThan', 'lessThan', 'greaterThanOrEqual', 'lessThanOrEqual'] as const;
const PRESENCE = ['equals', 'notEquals', 'in', 'notIn', 'exists', 'notExists'] as const;
const TEXT_ONLY = ['contains', 'notContains', 'startsWith', 'endsWith'] as const;

const OPERATORS_BY_KIND: Record<FieldKind, readonly Operator[]> = {
  email: [...PRESENCE, ...TEXT_ONLY, ...COMPARING],
  subscribed: PRESENCE,
  createdAt: [...PRESENCE, ...COMPARING, 'within', 'olderThan'],
  updatedAt: [...PRESENCE, ...COMPARING, 'within', 'olderThan'],
  data: VALUE_OPERATORS,
  context: VALUE_OPERATORS,
  payload: VALUE_OPERATORS,
  event: HISTORY_OPERATORS,
  activity: HISTORY_OPERATORS,
  segment: MEMBERSHIP_OPERATORS,
  topic: ['equals', 'notEquals'],
};

/** Returns the operators that a field of this kind accepts. */
export function listOperators(kind: FieldKind): readonly Operator[] {
  return OPERATORS_BY_KIND[kind];
}

/**
 * Parses the field of a filter. Undefined if the scope has no such field. `event.<name>` may be an event in the
 * contact's history, or a key of the trigger's payload; the operator shows which one is meant (contract §7.2 Steps).
 */
export function parseField(field: string, operator: Operator, scope: FilterScope): FieldRef | undefined {
  if (scope === 'wait') return parsePath('payload', field.startsWith('event.') ? field.slice('event.'.length) : field);
  const name = field.startsWith('contact.') ? field.slice('contact.'.length) : field;
  if (name === 'email' || name === 'subscribed' || name === 'createdAt' || name === 'updatedAt') return { kind: name };
  const dot = name.indexOf('.');
  if (dot < 1 || dot === name.length - 1) return undefined;
  return parsePrefixedField(name.slice(0, dot), name.slice(dot + 1), operator, scope);
}

function parsePrefixedField(
  prefix: string,
  suffix: string,
  operator: Operator,
  scope: FilterScope,
): FieldRef | undefined {
  switch (prefix) {
    case 'data':
      return parsePath('data', suffix);
    case 'context':
      return scope === 'step' ? parsePath('context', suffix) : undefined;
    case 'event':
      if (scope === 'step' && isValueOperator(operator)) return parsePath('payload', suffix);
      return suffix.length <= 255 ? { kind: 'event', name: suffix } : undefined;
    case 'email':
      return isEmailActivity(suffix) ? { kind: 'activity', activity: suffix } : undefined;
    case 'segment':
      return UUID.test(suffix) ? { kind: 'segment', segmentId: suffix.toLowerCase() } : undefined;
    case 'topic':
      return UUID.test(suffix) ? { kind: 'topic', topicId: suffix.toLowerCase() } : undefined;
    default:
      return undefined;
  }
}

function parsePath(kind: 'data' | 'context' | 'payload', text: string): FieldRef | undefined {
  const path = text.split('.');
  return path.length <= MAX_PATH_KEYS && path.every((key) => key !== '') ? { kind, path } : undefined;
}

export function isValueOperator(operator: Operator): operator is ValueOperator {
  return (VALUE_OPERATORS as readonly string[]).includes(operator);
}

export function isHistoryOperator(operator: Operator): operator is HistoryOperator {
  return (HISTORY_OPERATORS as readonly string[]).includes(operator);
}

/** Tells whether an operator is relative to the current time. The filter then has a span in `value` and `unit`. */
export function isRelativeOperator(operator: Operator): boolean {
  return /^(within|withinNext|olderThan|.*Within|.*OlderThan)$/.test(operator);
}

function isEmailActivity(text: string): text is EmailActivity {
  return (EMAIL_ACTIVITIES as readonly string[]).includes(text);
}
