import { hasExpression } from '../content/expressions.ts';
import { interpolateJson } from '../content/interpolate.ts';
import type { Data } from '../filters/data-values.ts';
import { listOperators, parseField } from '../filters/fields.ts';
import { type Condition, type Filter, type FilterValue, parseCondition } from '../filters/filters.ts';
import type { Sourced } from '../provenance/provenance.ts';

type Scope = 'step' | 'wait';

const NEGATIVE: ReadonlySet<string> = new Set(['notEquals', 'notContains', 'notIn', 'notExists']);

/**
 * Replaces the expressions in the values of a condition's filters by the variables of an execution. If a value is
 * exactly one expression, the variable keeps its type. A filter whose value is then missing or does not fit its
 * operator matches nothing. A negative filter in this case matches everything. Source: contract §7.6 Webhooks and
 * expressions.
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
  return filled ?? toEmptyFilter(filter, scope);
}

/**
 * Returns the value for a filled filter, or undefined if the value is missing. Null and empty strings count as missing.
 * A list inside a list is replaced by its items.
 */
function fillValue({ operator }: Filter, value: unknown): unknown {
  if (operator !== 'in' && operator !== 'notIn') return isMissing(value) ? undefined : value;
  const items = [value].flat(2).filter((item) => !isMissing(item));
  return items.length > 0 ? items : undefined;
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** Parses a filled filter. Undefined if its value does not fit the operator. */
function readFilter(filter: Omit<Filter, 'value'> & { value: unknown }, scope: Scope): Filter | undefined {
  try {
    // The parser for stored conditions accepts braces in the value. Braces in a value that came from a variable are
    // text.
    const parsed = parseCondition(filter, scope).groups[0]?.filters[0];
    return parsed && { ...parsed, value: parsed.value as FilterValue };
  } catch {
    return undefined;
  }
}

/**
 * Returns a filter with an empty list of values, which matches nothing (or everything if negative). If the field
 * accepts no list, the filter uses the field `email` instead.
 */
function toEmptyFilter({ field, operator }: Filter, scope: Scope): Filter {
  const empty = { operator: NEGATIVE.has(operator) ? ('notIn' as const) : ('in' as const), value: [] };
  const ref = parseField(field, empty.operator, scope);
  const acceptsList = ref !== undefined && listOperators(ref.kind).includes(empty.operator);
  return { field: acceptsList ? field : 'email', ...empty };
}
