import type { Condition, Filter } from '../../../packages/client/src/operations.generated.ts';
import { OPERATORS, UNITS } from './language.ts';

/**
 * Reads a stored condition in any form that the API accepts (docs/filters.md): groups, a simple list, one filter, a
 * list of filters. Returns undefined if the builder would lose part of it; the screen then leaves the condition
 * unchanged.
 */
export function parseStoredCondition(stored: unknown): Condition | undefined {
  if (Array.isArray(stored))
    return stored.length > 0 && stored.every(isFilter) ? joinFilters('AND', stored) : undefined;
  if (isFilter(stored)) return joinFilters('AND', [stored]);
  if (isCondition(stored)) return stored;
  return parseSimpleCondition(stored);
}

function joinFilters(logic: Condition['logic'], filters: Filter[]): Condition {
  return { logic, groups: logic === 'AND' ? [{ filters }] : filters.map((filter) => ({ filters: [filter] })) };
}

/** `{ operator, conditions: [filter] }`. */
function parseSimpleCondition(stored: unknown): Condition | undefined {
  if (!hasOnlyKeys(stored, ['operator', 'conditions'])) return undefined;
  const { operator, conditions } = stored;
  if (!isLogic(operator) || !Array.isArray(conditions) || !conditions.every(isFilter)) return undefined;
  return conditions.length > 0 ? joinFilters(operator, conditions) : undefined;
}

function isCondition(stored: unknown): stored is Condition {
  if (!hasOnlyKeys(stored, ['logic', 'groups']) || !isLogic(stored.logic)) return false;
  const { groups } = stored;
  return Array.isArray(groups) && groups.length > 0 && groups.every(isGroup);
}

function isGroup(group: unknown): boolean {
  if (!hasOnlyKeys(group, ['filters', 'conditions'])) return false;
  const { filters, conditions } = group;
  const isNested = conditions === undefined || isCondition(conditions);
  return Array.isArray(filters) && filters.every(isFilter) && isNested && (filters.length > 0 || !!conditions);
}

function isFilter(filter: unknown): filter is Filter {
  if (!hasOnlyKeys(filter, ['field', 'operator', 'value', 'unit'])) return false;
  const { field, operator, value, unit } = filter;
  return (
    typeof field === 'string' &&
    OPERATORS.some((known) => known === operator) &&
    (value === undefined || isScalar(value) || (Array.isArray(value) && value.every(isScalar))) &&
    (unit === undefined || UNITS.some((known) => known === unit))
  );
}

function isLogic(value: unknown): value is Condition['logic'] {
  return value === 'AND' || value === 'OR';
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function hasOnlyKeys<Key extends string>(value: unknown, keys: readonly Key[]): value is Partial<Record<Key, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.keys(value).every((key) => keys.some((known) => known === key));
}
