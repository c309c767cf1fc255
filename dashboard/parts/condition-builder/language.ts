/**
 * The filter language (docs/filters.md): which operators each kind of field permits, and which input each operator
 * needs. The API checks every condition again; `test/dashboard/condition-language.test.ts` compares this table with the
 * API's.
 */
import type { Filter } from '../../../packages/client/src/operations.generated.ts';

export type Operator = Filter['operator'];
export type Unit = NonNullable<Filter['unit']>;
export type Scalar = string | number | boolean;
/**
 * The use of a condition. `audience`: segments, campaigns and lists of contacts. `step`: a CONDITION step, which may
 * also use the data of the event that started the run. `wait`: a WAIT_FOR_EVENT step, which may use only the data of
 * the awaited event.
 */
export type ConditionScope = 'audience' | 'step' | 'wait';
export type FieldKind =
  | ('email' | 'subscribed' | 'createdAt' | 'updatedAt')
  | ('data' | 'context' | 'payload')
  | ('event' | 'activity' | 'segment' | 'topic');
/** Type of value that a filter compares with. */
export type ValueType = 'text' | 'number' | 'boolean' | 'date';
/** Input that an operator needs besides the field. */
export type OperatorInput = 'nothing' | 'one' | 'list' | 'span';

const PRESENCE = ['equals', 'notEquals', 'in', 'notIn', 'exists', 'notExists'] as const;
const TEXT_ONLY = ['contains', 'notContains', 'startsWith', 'endsWith'] as const;
const COMPARING = ['greaterThan', 'lessThan', 'greaterThanOrEqual', 'lessThanOrEqual'] as const;
/** Instants of the service itself, such as `createdAt`, are never in the future, so only `PAST` is offered for them. */
const PAST = ['within', 'olderThan'] as const;
const RELATIVE = [...PAST, 'withinNext'] as const;
const VALUE: readonly Operator[] = [
  'equals',
  'notEquals',
  ...TEXT_ONLY,
  ...COMPARING,
  'in',
  'notIn',
  'exists',
  'notExists',
  ...RELATIVE,
];
const HISTORY = ['triggered', 'notTriggered', 'triggeredWithin', 'notTriggeredWithin', 'triggeredOlderThan'] as const;
const DATED: readonly Operator[] = [...PRESENCE, ...COMPARING, ...PAST];

const OPERATORS_BY_KIND: Record<FieldKind, readonly Operator[]> = {
  email: [...PRESENCE, ...TEXT_ONLY, ...COMPARING],
  subscribed: PRESENCE,
  createdAt: DATED,
  updatedAt: DATED,
  data: VALUE,
  context: VALUE,
  payload: VALUE,
  event: HISTORY,
  activity: HISTORY,
  segment: ['memberOf', 'notMemberOf'],
  topic: ['equals', 'notEquals'],
};

const OWN_FIELDS = ['email', 'subscribed', 'createdAt', 'updatedAt'] as const;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const ACTIVITIES = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained'];

/** All operators. */
export const OPERATORS: readonly Operator[] = [...VALUE, ...HISTORY, 'memberOf', 'notMemberOf'];
/** Fields about the emails that were sent to a contact. */
export const ACTIVITY_FIELDS = ACTIVITIES.map((word) => `email.${word}`);
export const UNITS: readonly Unit[] = ['minutes', 'hours', 'days', 'weeks'];

/** Returns the operators that a kind of field permits. */
export function getOperators(kind: FieldKind): readonly Operator[] {
  return OPERATORS_BY_KIND[kind];
}

/**
 * Returns the operators to offer for a field. For data of a contact, an event or a run, omits the operators that can
 * never match values of this type.
 */
export function listOfferedOperators(kind: FieldKind, type: ValueType): readonly Operator[] {
  if (kind !== 'data' && kind !== 'context' && kind !== 'payload') return OPERATORS_BY_KIND[kind];
  if (type === 'boolean') return ['equals', 'notEquals', 'exists', 'notExists'];
  if (type === 'number')
    return VALUE.filter((operator) => !isInList(TEXT_ONLY, operator) && !isInList(RELATIVE, operator));
  if (type === 'date') return VALUE.filter((operator) => !isInList(TEXT_ONLY, operator));
  return VALUE.filter((operator) => !isInList(RELATIVE, operator));
}

/**
 * Returns the kind of a field as filters write it; undefined if no field has this name. In a step, `event.<x>` is a
 * key of the event's data for operators on values, and the event in the contact's history for the others. In a wait,
 * every field is such a key, with or without `event.` before it.
 */
export function findFieldKind(field: string, operator: Operator, scope: ConditionScope): FieldKind | undefined {
  if (scope === 'wait') return isPath(toDataPath(field)) ? 'payload' : undefined;
  const name = field.startsWith('contact.') ? field.slice('contact.'.length) : field;
  const ownField = OWN_FIELDS.find((known) => known === name);
  if (ownField) return ownField;
  const [prefix, rest] = splitOnce(name);
  if (!rest) return undefined;
  switch (prefix) {
    case 'data':
      return isPath(rest) ? 'data' : undefined;
    case 'context':
      return scope === 'step' && isPath(rest) ? 'context' : undefined;
    case 'event':
      return scope === 'step' && isInList(VALUE, operator) ? 'payload' : 'event';
    case 'email':
      return ACTIVITIES.includes(rest) ? 'activity' : undefined;
    case 'segment':
      return UUID.test(rest) ? 'segment' : undefined;
    case 'topic':
      return UUID.test(rest) ? 'topic' : undefined;
    default:
      return undefined;
  }
}

/** Returns the input that an operator needs besides the field. */
export function getOperatorInput(operator: Operator): OperatorInput {
  if (operator === 'in' || operator === 'notIn') return 'list';
  if (isInList(RELATIVE, operator) || /(Within|OlderThan)$/.test(operator)) return 'span';
  const alone: Operator[] = ['exists', 'notExists', 'triggered', 'notTriggered', 'memberOf', 'notMemberOf'];
  return alone.includes(operator) ? 'nothing' : 'one';
}

/**
 * Returns the type of a field's values if its kind determines it. Undefined for data, which may have any type, and for
 * kinds that compare with no value.
 */
export function getFixedType(kind: FieldKind): ValueType | undefined {
  if (kind === 'email') return 'text';
  if (kind === 'subscribed' || kind === 'topic') return 'boolean';
  if (kind === 'createdAt' || kind === 'updatedAt') return 'date';
  return undefined;
}

/** Returns the path into an event's data for a field of a wait. */
export function toDataPath(field: string): string {
  return field.startsWith('event.') ? field.slice('event.'.length) : field;
}

function splitOnce(text: string): [string, string] {
  const dot = text.indexOf('.');
  return dot < 1 ? [text, ''] : [text.slice(0, dot), text.slice(dot + 1)];
}

/** The maximum depth of a path in the API. */
const PATH_KEYS_MAX = 10;

function isPath(rest: string): boolean {
  const keys = rest.split('.');
  return keys.length <= PATH_KEYS_MAX && keys.every((key) => key !== '');
}

function isInList(list: readonly Operator[], operator: Operator): boolean {
  return list.includes(operator);
}
