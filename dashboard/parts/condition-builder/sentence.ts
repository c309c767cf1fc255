import type { Condition, Filter } from '../../../packages/client/src/operations.generated.ts';
import { text } from '../../text/text.ts';
import { choiceOf, type FieldChoice } from './choices.ts';
import { type ConditionScope, type Operator, operatorInputOf, type ValueType } from './language.ts';

/** Returns the label of an operator; for dates, "before" and "after". */
export function operatorWord(operator: Operator, type?: ValueType | undefined): string {
  return (
    (type === 'date' ? text.conditions.datedOperators[operator] : undefined) ?? text.conditions.operators[operator]
  );
}

/** Returns the label of a field. */
export function fieldWord({ field, label }: Pick<FieldChoice, 'field' | 'label'>): string {
  return text.conditions.fields[field] ?? label;
}

/**
 * Returns a filter as a sentence: "plan is pro".
 * @param choices fields with the names of segments and topics
 */
export function sentenceOf(
  filter: Filter,
  choices: readonly FieldChoice[],
  scope: ConditionScope = 'audience',
): string {
  const chosen = choiceOf(filter, choices, scope);
  const field = chosen ? fieldWord(chosen) : filter.field;
  return [field, operatorWord(filter.operator, isDate(filter.value) ? 'date' : undefined), valueWord(filter)]
    .filter((word) => word !== '')
    .join(' ');
}

/** Returns all filters of a condition in order, to show the first ones and the number of them. */
export function filtersOf({ groups }: Condition): Filter[] {
  return groups.flatMap(({ filters, conditions }) => [...filters, ...(conditions ? filtersOf(conditions) : [])]);
}

/**
 * Returns the condition without one filter, counted as in `filtersOf`; undefined if none is left. Nested conditions are
 * edited in the builder only.
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

function valueWord({ operator, value, unit }: Filter): string {
  switch (operatorInputOf(operator)) {
    case 'nothing':
      return '';
    case 'span':
      return `${String(value)} ${unit ? text.conditions.units[unit] : ''}`.trim();
    case 'list':
      return Array.isArray(value) ? value.map(wordOf).join(', ') : wordOf(value);
    case 'one':
      return wordOf(Array.isArray(value) ? value[0] : value);
  }
}

function wordOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? text.conditions.truth.true : text.conditions.truth.false;
  return String(value ?? '');
}

function isDate(value: Filter['value']): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value);
}
