import { hasExpression } from '../content/expressions.ts';
import { interpolateJson } from '../content/interpolate.ts';
import type { Data } from '../filters/data-values.ts';
import { operatorsOf, parseField } from '../filters/fields.ts';
import { type Condition, type Filter, type FilterValue, parseCondition } from '../filters/filters.ts';
import type { Sourced } from '../provenance/provenance.ts';

type Scope = 'step' | 'wait';

const NEGATIVE: ReadonlySet<string> = new Set(['notEquals', 'notContains', 'notIn', 'notExists']);

/**
 * Fills the expressions in the values of a condition's filters. A value that is one expression keeps its type. A filter
 * whose value is missing or does not fit its operator matches nothing, and a negative filter then matches everything.
 * Source: contract §7.6 Webhooks and expressions.
 */
export function fillCondition(condition: Condition, variables: Sourced<Data>, scope: Scope): Condition {
  const groups = condition.groups.map(({ filters, conditions }) => ({
    filters: filters.map((filter) => fillFilter(filter, variables, scope)),
    ...(conditions && { conditions: fillCondition(conditions, variables, scope) }),
  }));
  return { logic: condition.logic, groups };
}

function fillFilter(filter: Filter, variables: Sourced<Data>, scope: Scope): Filter {
  if (!hasExpression(filter.value)) return filter;
  const value = fillValue(filter, interpolateJson(filter.value, variables).value);
  const filled = value === undefined ? undefined : readFilter({ ...filter, value }, scope);
  return filled ?? withoutMatch(filter, scope);
}

/** Fills one value. A list in a list is replaced by its items. Null and empty strings count as missing. */
function fillValue({ operator }: Filter, value: unknown): unknown {
  if (operator !== 'in' && operator !== 'notIn') return isMissing(value) ? undefined : value;
  const items = [value].flat(2).filter((item) => !isMissing(item));
  return items.length > 0 ? items : undefined;
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** Reads a filled filter in the form that is compared. Undefined if its value does not fit the operator. */
function readFilter(filter: Omit<Filter, 'value'> & { value: unknown }, scope: Scope): Filter | undefined {
  try {
    // The filled value may contain braces, which are text now.
    const read = parseCondition(filter, scope).groups[0]?.filters[0];
    return read && { ...read, value: read.value as FilterValue };
  } catch {
    return undefined;
  }
}

/**
 * Returns a filter without values, which matches nothing. A field that accepts no list is replaced by one that does.
 */
function withoutMatch({ field, operator }: Filter, scope: Scope): Filter {
  const none = { operator: NEGATIVE.has(operator) ? ('notIn' as const) : ('in' as const), value: [] };
  const ref = parseField(field, none.operator, scope);
  const takesList = ref !== undefined && operatorsOf(ref.kind).includes(none.operator);
  return { field: takesList ? field : 'email', ...none };
}
