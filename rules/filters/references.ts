/**
 * Finds the fields, events and segments that a condition uses. The API lists such uses, and refuses to delete a
 * resource that is used.
 */
import { readIsoDate } from '../time/iso-date.ts';
import { type EmailActivity, type FieldRef, type FilterScope, isRelativeOperator, parseField } from './fields.ts';
import { type Condition, type Filter, parseCondition } from './filters.ts';

export interface ConditionReferences {
  /** The paths of contact data, without the prefix `data.`, such as `plan` or `address.city`. */
  dataFields: string[];
  /** The names of events in the contact's history. Keys of the trigger's payload are not included. */
  eventNames: string[];
  segmentIds: string[];
  emailActivities: EmailActivity[];
}

/** Collects everything that a condition uses, each name once, in the order of first use. */
export function collectReferences(condition: Condition, scope: FilterScope = 'audience'): ConditionReferences {
  const refs = [...iterateFilters(condition)].map((filter) => parseField(filter.field, filter.operator, scope));
  return {
    dataFields: collectNames(refs, (ref) => (ref.kind === 'data' ? ref.path.join('.') : undefined)),
    eventNames: collectNames(refs, (ref) => (ref.kind === 'event' ? ref.name : undefined)),
    segmentIds: collectNames(refs, (ref) => (ref.kind === 'segment' ? ref.segmentId : undefined)),
    emailActivities: collectNames(refs, (ref) => (ref.kind === 'activity' ? ref.activity : undefined)),
  };
}

/** The field, event or segment whose uses are searched. */
export type ReferenceTarget = { dataField: string } | { eventName: string } | { segmentId: string };

/** Tells whether a condition uses a data field (or a path below it), an event name or a segment. */
export function hasReference(condition: Condition, target: ReferenceTarget, scope: FilterScope = 'audience'): boolean {
  const references = collectReferences(condition, scope);
  if ('eventName' in target) return references.eventNames.includes(target.eventName);
  if ('segmentId' in target) return references.segmentIds.includes(target.segmentId.toLowerCase());
  const key = target.dataField.startsWith('data.') ? target.dataField.slice('data.'.length) : target.dataField;
  return references.dataFields.some((path) => path === key || path.startsWith(`${key}.`));
}

/** Like `hasReference`, for a stored condition. False if the condition is incomplete, so it cannot be parsed. */
export function hasStoredReference(stored: unknown, target: ReferenceTarget, scope: FilterScope): boolean {
  try {
    return hasReference(parseCondition(stored, scope), target, scope);
  } catch {
    return false;
  }
}

/**
 * Tells whether a filter of the condition may compare instants: its value contains a date, or its operator is relative
 * to the current time.
 */
export function hasInstantFilter(condition: Condition): boolean {
  return [...iterateFilters(condition)].some(
    ({ operator, value }) =>
      isRelativeOperator(operator) || [value].flat().some((item) => typeof item === 'string' && readIsoDate(item)),
  );
}

/** Yields the filters of a condition, in order, at every depth. */
function* iterateFilters(condition: Condition): Generator<Filter> {
  for (const group of condition.groups) {
    yield* group.filters;
    if (group.conditions) yield* iterateFilters(group.conditions);
  }
}

function collectNames<T>(refs: readonly (FieldRef | undefined)[], name: (ref: FieldRef) => T | undefined): T[] {
  const names = refs.map((ref) => (ref ? name(ref) : undefined)).filter((found) => found !== undefined);
  return [...new Set(names)];
}
