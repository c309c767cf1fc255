import { isDeepStrictEqual } from 'node:util';
import { interpolateFields } from '../content/interpolate.ts';
import { applyData, type Data, isPlainObject } from '../filters/data-values.ts';
import { markUntrusted, type Sourced } from '../provenance/provenance.ts';

/**
 * Inserts variables into the `updates` of an UPDATE_CONTACT step. A missing variable, like an empty text, changes
 * nothing: its field is omitted, and inside an object it keeps the contact's value. Only a literal `null` deletes a
 * field.
 */
export function resolveUpdates(updates: Readonly<Data>, variables: Sourced<Data>): Sourced<Data> {
  const { values, untrusted } = interpolateFields(updates, variables);
  const stored = isPlainObject(variables.values.data) ? variables.values.data : {};
  const untrustedNames: string[] = [];
  const found = Object.entries(updates).flatMap(([name, template]): [string, unknown][] => {
    const value = withoutMissing(template, values[name], stored[name]);
    if (value === undefined) return [];
    // An object may keep parts of the contact's own one.
    const mayKeep = isPlainObject(template) && variables.untrusted.has(name);
    if (untrusted.has(name) || mayKeep) untrustedNames.push(name);
    return [[name, value]];
  });
  return markUntrusted(Object.fromEntries(found), untrustedNames);
}

/** Returns the names of the fields that the updates change in the contact's data. */
export function changedNames(before: Readonly<Data>, updates: Readonly<Data>): string[] {
  const { set, remove } = applyData(updates, 'keep');
  const changed = Object.keys(set).filter((name) => !isDeepStrictEqual(set[name], before[name]));
  return [...changed, ...remove.filter((name) => Object.hasOwn(before, name))];
}

/**
 * Returns the value without the parts whose text had a missing or empty variable. An object keeps the parts of `stored`
 * in their place. Undefined if nothing remains.
 */
function withoutMissing(template: unknown, value: unknown, stored: unknown): unknown {
  // The blanks between two missing variables are no value.
  const isBlank = (text: unknown) => typeof text === 'string' && text.trim() === '';
  if (typeof template === 'string')
    return value === null || value === '' || (isBlank(value) && !isBlank(template)) ? undefined : value;
  if (Array.isArray(template) && Array.isArray(value)) {
    const items = template
      .map((item, at) => withoutMissing(item, value[at], undefined))
      .filter((item) => item !== undefined);
    return items.length === 0 && template.length > 0 ? undefined : items;
  }
  if (!isPlainObject(template) || !isPlainObject(value)) return value;
  const before = isPlainObject(stored) ? stored : {};
  const entries = Object.entries(template).map(([name, item]): [string, unknown] => {
    return [name, withoutMissing(item, value[name], before[name])];
  });
  if (entries.length > 0 && entries.every(([, item]) => item === undefined)) return undefined;
  const found = entries.map(([name, item]): [string, unknown] => [name, item === undefined ? before[name] : item]);
  return Object.fromEntries(found.filter(([, item]) => item !== undefined));
}
