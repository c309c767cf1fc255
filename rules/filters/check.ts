/**
 * Checks filters: whether field and operator fit together, and whether the operator has the value that it needs
 * (contract §5.2 Filters).
 */
import { hasExpression } from '../content/expressions.ts';
import {
  type FieldRef,
  type FilterScope,
  isRelativeOperator,
  listOperators,
  type Operator,
  parseField,
} from './fields.ts';
import { suggestField } from './filter-names.ts';
import type { Filter } from './filters.ts';
import { parseIsoDate, spanMs } from './values.ts';

/** The maximum span: a hundred years. A longer span could lead to a date that Postgres cannot represent. */
const MAX_SPAN_MS = 36_525 * 86_400_000;
/** Matches characters that Postgres cannot store in text or jsonb: NUL, and half of a surrogate pair. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

export interface FilterError {
  key: 'field' | 'operator' | 'value' | 'unit';
  message: string;
}

/**
 * Returns the errors of a filter whose fields have the right types. The list is empty if the filter can be compiled and
 * evaluated.
 * @param isStored true for a filter that is stored, or in which variables were replaced by values. Such a filter may
 * have parts that the operator does not use. It may also have an empty list for `in` or `notIn`, if a variable was
 * missing
 */
export function checkFilter(filter: Filter, scope: FilterScope, isStored = false): FilterError[] {
  const ref = UNSTORABLE.test(filter.field) ? undefined : parseField(filter.field, filter.operator, scope);
  if (!ref) return [{ key: 'field', message: describeUnknownField(filter.field, scope) }];
  const operators = listOperators(ref.kind);
  if (!operators.includes(filter.operator)) {
    const message = `The field ${filter.field} does not take ${filter.operator}; it takes ${operators.join(', ')}.`;
    return [{ key: 'operator', message }];
  }
  const unused = isStored ? [] : findUnusedParts(filter);
  if (unused.length > 0) return unused;
  if (scope !== 'audience' && hasExpression(filter.value)) return checkTemplate(filter);
  if (isStored && Array.isArray(filter.value) && filter.value.length === 0 && /^(?:in|notIn)$/.test(filter.operator))
    return [];
  return isRelativeOperator(filter.operator) ? checkSpan(filter) : checkValue(filter, ref);
}

/** Operators that take no value. */
const WITHOUT_VALUE: ReadonlySet<Operator> = new Set([
  'exists',
  'notExists',
  'triggered',
  'notTriggered',
  'memberOf',
  'notMemberOf',
]);

/**
 * Finds parts that the operator does not use. With such a part, the author probably expects the filter to match
 * something else.
 */
function findUnusedParts({ operator, value, unit }: Filter): FilterError[] {
  const faults: FilterError[] = [];
  if (value !== undefined && WITHOUT_VALUE.has(operator))
    faults.push({ key: 'value', message: `${operator} takes no value. ${suggestWithoutValue(operator, value)}` });
  if (unit !== undefined && !isRelativeOperator(operator))
    faults.push({ key: 'unit', message: `${operator} takes no unit. Remove it, or use an operator of time.` });
  return faults;
}

function suggestWithoutValue(operator: Operator, value: Filter['value']): string {
  if (operator === 'exists') return value === false ? 'Use notExists.' : 'Remove it, or use equals.';
  if (operator === 'notExists') return value === false ? 'Use exists.' : 'Remove it, or use notEquals.';
  if (operator === 'triggered' || operator === 'notTriggered') return `Remove it, or use ${operator}Within.`;
  return 'Remove it.';
}

/**
 * Checks a filter whose value has expressions. The type of the value is not checked, because it is known only after the
 * expressions are replaced.
 */
function checkTemplate({ operator, value, unit }: Filter): FilterError[] {
  if (Array.isArray(value) && operator !== 'in' && operator !== 'notIn')
    return [{ key: 'value', message: `${operator} needs a single value.` }];
  if (isRelativeOperator(operator) && !unit)
    return [{ key: 'unit', message: `${operator} needs a unit: minutes, hours, days or weeks.` }];
  return [];
}

function describeUnknownField(field: string, scope: FilterScope): string {
  if (scope === 'wait') return 'A filter on the event needs a key of its data: event.<key>, or only the key.';
  const fields = [
    'email',
    'subscribed',
    'createdAt',
    'updatedAt',
    'data.<path>',
    'event.<name>',
    'segment.<id>',
    'topic.<id>',
  ];
  fields.push('email.<sent|delivered|opened|clicked|bounced|complained>');
  if (scope === 'step') fields.push('event.<key>', 'context.<key>');
  const hint = suggestField(field);
  return `There is no such field.${hint ? ` ${hint}` : ''} Fields are ${fields.join(', ')}.`;
}

function checkSpan({ operator, value, unit }: Filter): FilterError[] {
  const faults: FilterError[] = [];
  if (typeof value !== 'number' || value <= 0) {
    faults.push({ key: 'value', message: `${operator} needs a number above 0 as its value.` });
  }
  if (!unit) faults.push({ key: 'unit', message: `${operator} needs a unit: minutes, hours, days or weeks.` });
  else if (typeof value === 'number' && spanMs(value, unit) > MAX_SPAN_MS) {
    faults.push({ key: 'value', message: 'The span is longer than a hundred years.' });
  }
  return faults;
}

function checkValue(filter: Filter, ref: FieldRef): FilterError[] {
  const message = findValueError(filter, ref);
  return message ? [{ key: 'value', message }] : [];
}

function findValueError(filter: Filter, ref: FieldRef): string | undefined {
  const { operator, value } = filter;
  if (WITHOUT_VALUE.has(operator)) return undefined;
  if (operator === 'in' || operator === 'notIn') {
    if (!Array.isArray(value) || value.length === 0) return `${operator} needs a list with at least one value.`;
  } else if (Array.isArray(value) || value === undefined) {
    return `${operator} needs a single value.${value === undefined ? ' For a missing field use notExists.' : ''}`;
  }
  return findTypeError(filter, ref);
}

function findTypeError({ field, operator, value }: Filter, ref: FieldRef): string | undefined {
  for (const item of Array.isArray(value) ? value : [value]) {
    if (typeof item === 'string' && UNSTORABLE.test(item))
      return 'The text contains a character that cannot be stored.';
    if ((ref.kind === 'subscribed' || ref.kind === 'topic') && typeof item !== 'boolean')
      return `${field} is compared with true or false.`;
    if (ref.kind === 'email' && typeof item !== 'string') return `${field} is compared with text.`;
    const isDate = ref.kind === 'createdAt' || ref.kind === 'updatedAt';
    if (isDate && (typeof item !== 'string' || parseIsoDate(item) === undefined)) {
      return `${field} is compared with an ISO 8601 date or date-time.`;
    }
  }
  switch (operator) {
    case 'contains':
    case 'notContains':
      return value === '' ? `${operator} needs a text that is not empty.` : undefined;
    case 'startsWith':
    case 'endsWith':
      return typeof value === 'string' && value !== '' ? undefined : `${operator} needs a text that is not empty.`;
    case 'greaterThan':
    case 'lessThan':
    case 'greaterThanOrEqual':
    case 'lessThanOrEqual':
      return typeof value === 'boolean' ? `${operator} needs a number, a date or a text.` : undefined;
    default:
      return undefined;
  }
}
