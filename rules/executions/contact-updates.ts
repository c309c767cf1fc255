import { isDeepStrictEqual } from 'node:util';
import { hasOnlyMissingValues, interpolateFields } from '../content/interpolate.ts';
import { type Data, isPlainObject, parseDataChanges } from '../filters/data-values.ts';
import { markUntrusted, type Sourced } from '../provenance/provenance.ts';

/**
 * Inserts variables into the `updates` of an UPDATE_CONTACT step. A missing variable or an empty text changes nothing:
 * the result omits the field, and inside an object the contact keeps the stored value. Only a literal `null` deletes a
 * field.
 */
export function fillUpdates(updates: Readonly<Data>, variables: Sourced<Data>): Sourced<Data> {
  const { values, untrusted } = interpolateFields(updates, variables);
  const stored = isPlainObject(variables.values.data) ? variables.values.data : {};
  const untrustedNames: string[] = [];
  const entries = Object.entries(updates).flatMap(([name, template]): [string, unknown][] => {
    const value = dropMissingParts({ template, value: values[name], stored: stored[name] }, variables.values);
    if (value === undefined) return [];
    // An object may keep untrusted parts of the contact's stored object.
    const mayKeep = isPlainObject(template) && variables.untrusted.has(name);
    if (untrusted.has(name) || mayKeep) untrustedNames.push(name);
    return [[name, value]];
  });
  return markUntrusted(Object.fromEntries(entries), untrustedNames);
}

/** Returns the names of the fields in the contact's data that the updates change. */
export function listChangedNames(before: Readonly<Data>, updates: Readonly<Data>): string[] {
  const { set, remove } = parseDataChanges(updates, 'keep');
  const changed = Object.keys(set).filter((name) => !isDeepStrictEqual(set[name], before[name]));
  return [...changed, ...remove.filter((name) => Object.hasOwn(before, name))];
}

/**
 * Returns the output of an UPDATE_CONTACT step: the changed fields, and the subscription if it changed. A step cannot
 * change the subscription if, for example, the project protects the contact's refusal.
 */
export function toUpdateOutput(
  before: { data: Readonly<Data>; subscribed: boolean },
  after: { updates: Readonly<Data>; subscribed: boolean },
): Record<string, unknown> {
  const updated = listChangedNames(before.data, after.updates);
  return before.subscribed === after.subscribed ? { updated } : { updated, subscribed: after.subscribed };
}

/**
 * Returns the value without the parts whose text had only missing or empty variables. In an object, the removed parts
 * are replaced by the same parts of `stored`. Undefined if nothing remains.
 */
function dropMissingParts(
  { template, value, stored }: { template: unknown; value: unknown; stored: unknown },
  variables: Data,
): unknown {
  if (typeof template === 'string') return isWithoutValue(template, value, variables) ? undefined : value;
  if (Array.isArray(template) && Array.isArray(value)) {
    const items = template
      .map((item, at) => dropMissingParts({ template: item, value: value[at], stored: undefined }, variables))
      .filter((item) => item !== undefined);
    return items.length === 0 && template.length > 0 ? undefined : items;
  }
  if (!isPlainObject(template) || !isPlainObject(value)) return value;
  const before = isPlainObject(stored) ? stored : {};
  const entries = Object.entries(template).map(([name, item]): [string, unknown] => [
    name,
    dropMissingParts({ template: item, value: value[name], stored: before[name] }, variables),
  ]);
  if (entries.length > 0 && entries.every(([, item]) => item === undefined)) return undefined;
  const merged = entries.map(([name, item]): [string, unknown] => [name, item === undefined ? before[name] : item]);
  return Object.fromEntries(merged.filter(([, item]) => item !== undefined));
}

function isWithoutValue(template: string, value: unknown, variables: Data): boolean {
  if (value === null || value === '' || hasOnlyMissingValues(template, variables)) return true;
  // Spaces between missing variables do not count as a value.
  return typeof value === 'string' && value.trim() === '' && template.trim() !== '';
}
