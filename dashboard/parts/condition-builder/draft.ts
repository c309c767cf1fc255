/** A condition during editing: rows have keys, values are the input strings, and parts may still be missing. */
import type { Condition, Filter } from '../../../packages/client/src/operations.generated.ts';
import {
  type ConditionScope,
  type FieldKind,
  findFieldKind,
  getFixedType,
  getOperatorInput,
  getOperators,
  listOfferedOperators,
  type Operator,
  type Scalar,
  type Unit,
  type ValueType,
} from './language.ts';

export interface DraftFilter {
  key: string;
  /** Empty until the user chooses a field. */
  field: string;
  operator: Operator;
  type: ValueType;
  /** Text in the input of a single value, or the number of a time span. */
  text: string;
  /** The values of a list. */
  list: string[];
  unit: Unit;
  /** The stored values of a list. Values that the user keeps in the list keep their types. */
  items?: Scalar[];
  /** The stored filter, until the row is edited. */
  stored?: Filter;
}

export interface DraftGroup {
  key: string;
  filters: DraftFilter[];
  /** A condition that must match in addition to the filters. */
  nested?: DraftCondition;
}

export interface DraftCondition {
  logic: Condition['logic'];
  groups: DraftGroup[];
}

/** The controls of a row. An error of the API is shown below the control that it is about. */
export type RowPart = 'field' | 'operator' | 'value' | 'unit';

let keys = 0;
function newKey(): string {
  keys += 1;
  // The key is also unique among the keys of a draft that was stored before a reload.
  return `row-${Date.now().toString(36)}-${keys}`;
}

export function newFilter(): DraftFilter {
  return { key: newKey(), field: '', operator: 'equals', type: 'text', text: '', list: [], unit: 'days' };
}

export function newGroup(): DraftGroup {
  return { key: newKey(), filters: [newFilter()] };
}

/**
 * Returns a condition with one empty row. Added groups are alternatives; filters that must all match belong in one
 * group.
 */
export function newCondition(): DraftCondition {
  return { logic: 'OR', groups: [newGroup()] };
}

/** Returns the draft of a stored condition. */
export function toConditionDraft({ logic, groups }: Condition): DraftCondition {
  return {
    logic,
    groups: groups.map(({ filters, conditions }) => ({
      key: newKey(),
      filters: filters.map(toDraftFilter),
      ...(conditions && { nested: toConditionDraft(conditions) }),
    })),
  };
}

function toDraftFilter(stored: Filter): DraftFilter {
  const { field, operator, value, unit } = stored;
  const values = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return {
    ...newFilter(),
    field,
    operator,
    type: detectValueType(values[0]),
    stored,
    text: values.length > 0 && !Array.isArray(value) ? String(values[0]) : '',
    list: Array.isArray(value) ? values.map(String) : [],
    ...(Array.isArray(value) && { items: values }),
    ...(unit && { unit }),
  };
}

/** Returns the type of a stored value. A text in the form of an ISO date is a date. */
function detectValueType(value: Scalar | undefined): ValueType {
  if (typeof value === 'number') return 'number';
  if (typeof value === 'boolean') return 'boolean';
  return value !== undefined && ISO_DATE.test(value) ? 'date' : 'text';
}

const ISO_DATE = /^[1-9]\d{3}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

/** Returns the condition in the form of the API. Check `isComplete` before. */
export function toCondition({ logic, groups }: DraftCondition): Condition {
  return {
    logic,
    groups: groups.map(({ filters, nested }) => ({
      filters: filters.map(toFilter),
      ...(nested && { conditions: toCondition(nested) }),
    })),
  };
}

function toFilter(filter: DraftFilter): Filter {
  const { field, operator, type, text, list, unit, stored } = filter;
  const need = getOperatorInput(operator);
  // Earlier releases of the API accepted a value for such an operator, so a stored filter may have one.
  if (need === 'nothing') return { field, operator };
  if (stored) return stored;
  switch (need) {
    case 'span':
      return { field, operator, value: Number(text), unit };
    case 'list':
      return { field, operator, value: list.map((item) => findStoredItem(filter, item) ?? parseScalar(item, type)) };
    case 'one':
      return { field, operator, value: parseScalar(text, type) };
  }
}

function findStoredItem({ items }: DraftFilter, text: string): Scalar | undefined {
  return items?.find((item) => String(item) === text);
}

function parseScalar(text: string, type: ValueType): Scalar {
  if (type === 'number') return Number(text);
  if (type === 'boolean') return text === 'true';
  return text;
}

/** Returns the first part that a row lacks; undefined if it is complete. */
export function findMissingPart(filter: DraftFilter): RowPart | undefined {
  const { field, operator, type, text, list, stored } = filter;
  if (stored) return undefined;
  if (field === '') return 'field';
  const need = getOperatorInput(operator);
  if (need === 'nothing') return undefined;
  if (need === 'span') return text !== '' && Number(text) > 0 ? undefined : 'value';
  const values = need === 'list' ? list : [text];
  const isFit = (value: string) =>
    (need === 'list' && findStoredItem(filter, value) !== undefined) ||
    (value !== '' && (type !== 'number' || Number.isFinite(Number(value))));
  return values.length > 0 && values.every(isFit) ? undefined : 'value';
}

/** Returns whether every row is complete. */
export function isComplete({ groups }: DraftCondition): boolean {
  const isCompleteGroup = ({ filters, nested }: DraftGroup) =>
    filters.length + (nested ? 1 : 0) > 0 &&
    filters.every((filter) => findMissingPart(filter) === undefined) &&
    (!nested || isComplete(nested));
  return groups.length > 0 && groups.every(isCompleteGroup);
}

/**
 * Changes the field of a row. The operator stays if it is offered for the field, and the value if its type stays.
 * @param chosen.type the type of the field's values; undefined if unknown
 */
export function withField(
  filter: DraftFilter,
  chosen: { field: string; kind: FieldKind; type?: ValueType | undefined },
): DraftFilter {
  const { field, kind } = chosen;
  const type = getFixedType(kind) ?? chosen.type ?? filter.type;
  const offered = listOfferedOperators(kind, type);
  const operator = offered.includes(filter.operator) ? filter.operator : (offered[0] ?? 'equals');
  const next = { ...withoutStored(filter), field, operator, type };
  return type === filter.type ? next : { ...next, ...createEmptyValue(type) };
}

/**
 * Changes the operator of a row. A time span starts with 30 days. A single value becomes the first item of a list, and
 * the first item of a list becomes a single value.
 */
export function withOperator(filter: DraftFilter, operator: Operator): DraftFilter {
  const [before, need] = [getOperatorInput(filter.operator), getOperatorInput(operator)];
  const next = { ...withoutStored(filter), operator };
  if (before === need) return next;
  if (need === 'span') return { ...next, text: '30', unit: 'days' };
  if (before === 'span') return { ...next, ...createEmptyValue(filter.type) };
  if (need === 'list') return { ...next, list: filter.text === '' ? [] : [filter.text] };
  if (before === 'list') return { ...next, text: filter.list[0] ?? createEmptyValue(filter.type).text };
  return next;
}

/** Changes the type of a row's values, and empties the values. The operator stays if it is offered for the type. */
export function withType(filter: DraftFilter, type: ValueType, scope: ConditionScope): DraftFilter {
  const kind = findFieldKind(filter.field, filter.operator, scope);
  const offered = kind ? listOfferedOperators(kind, type) : [];
  const operator = offered.includes(filter.operator) ? filter.operator : (offered[0] ?? filter.operator);
  return { ...withOperator(filter, operator), type, ...createEmptyValue(type) };
}

/** Returns the row with another value or unit. */
export function withValue(
  filter: DraftFilter,
  value: Partial<Pick<DraftFilter, 'text' | 'list' | 'unit'>>,
): DraftFilter {
  return { ...withoutStored(filter), ...value };
}

function withoutStored({ stored: _, ...filter }: DraftFilter): DraftFilter {
  return filter;
}

/**
 * Returns the operators to offer for a row. Includes the current operator if the kind of field permits it, even if the
 * operator can never match values of the row's type.
 */
export function listOperators(filter: DraftFilter, scope: ConditionScope): readonly Operator[] {
  const kind = findFieldKind(filter.field, filter.operator, scope);
  if (!kind) return [filter.operator];
  const offered = listOfferedOperators(kind, filter.type);
  const has = getOperators(kind).includes(filter.operator) && !offered.includes(filter.operator);
  return has ? [...offered, filter.operator] : offered;
}

function createEmptyValue(type: ValueType): { text: string; list: string[]; items: Scalar[] } {
  return { text: type === 'boolean' ? 'true' : '', list: [], items: [] };
}
