import type { Condition, Filter } from '../../../packages/client/src/operations.generated.ts';
import { text } from '../../text/text.ts';
import { type FieldChoice, findFieldChoice } from './choices.ts';
import { type ConditionScope, getOperatorInput, type Operator, type ValueType } from './language.ts';

/** Returns the label of an operator, such as "is more than"; for dates "is after". */
export function getOperatorLabel(operator: Operator, type?: ValueType | undefined): string {
  return (
    (type === 'date' ? text.conditions.datedOperators[operator] : undefined) ?? text.conditions.operators[operator]
  );
}

/** Returns the label of a field. */
export function getFieldLabel({ field, label }: Pick<FieldChoice, 'field' | 'label'>): string {
  return text.conditions.fields[field] ?? label;
}

/**
 * Returns a filter as a sentence: "plan is pro".
 * @param choices fields with the names of segments and topics
 */
export function filterAsSentence(
  filter: Filter,
  choices: readonly FieldChoice[],
  scope: ConditionScope = 'audience',
): string {
  const choice = findFieldChoice(filter, choices, scope);
  const field = choice ? getFieldLabel(choice) : filter.field;
  return [field, getOperatorLabel(filter.operator, isDate(filter.value) ? 'date' : undefined), formatValue(filter)]
    .filter((word) => word !== '')
    .join(' ');
}

/** Returns all filters of a condition in order, including the filters of nested groups. */
export function listFilters({ groups }: Condition): Filter[] {
  return groups.flatMap(({ filters, conditions }) => [...filters, ...(conditions ? listFilters(conditions) : [])]);
}

/**
 * Returns the condition without the filter at this index of `listFilters`; undefined if no filter is left. Do not call
 * it for a condition with nested groups: it does not count their filters, but `listFilters` does.
 */
export function withoutFilter({ logic, groups }: Condition, index: number): Condition | undefined {
  let start = 0;
  const reduced = groups.map((group) => {
    const at = index - start;
    start += group.filters.length;
    return { ...group, filters: group.filters.filter((_, n) => n !== at) };
  });
  const nonEmpty = reduced.filter(({ filters }) => filters.length > 0);
  return nonEmpty.length === 0 ? undefined : { logic, groups: nonEmpty };
}

function formatValue({ operator, value, unit }: Filter): string {
  switch (getOperatorInput(operator)) {
    case 'nothing':
      return '';
    case 'span':
      return `${String(value)} ${unit ? text.conditions.units[unit] : ''}`.trim();
    case 'list':
      return Array.isArray(value) ? value.map(formatScalar).join(', ') : formatScalar(value);
    case 'one':
      return formatScalar(Array.isArray(value) ? value[0] : value);
  }
}

function formatScalar(value: unknown): string {
  if (typeof value === 'boolean') return value ? text.conditions.truth.true : text.conditions.truth.false;
  return String(value ?? '');
}

function isDate(value: Filter['value']): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value);
}
