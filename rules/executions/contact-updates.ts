import { isDeepStrictEqual } from 'node:util';
import { interpolateFields } from '../content/interpolate.ts';
import { applyData, type Data, isPlainObject } from '../filters/data-values.ts';
import { markUntrusted, type Sourced } from '../provenance/provenance.ts';

/**
 * Inserts variables into the `updates` of an UPDATE_CONTACT step. A missing variable, like an empty text, changes
 * nothing: its field is omitted, at any depth. Only a literal `null` deletes a field.
 */
export function resolveUpdates(updates: Readonly<Data>, variables: Sourced<Data>): Sourced<Data> {
  const { values, untrusted } = interpolateFields(updates, variables);
  const found = Object.entries(updates).flatMap(([name, template]): [string, unknown][] => {
    const value = withoutMissing(template, values[name]);
    return value === undefined ? [] : [[name, value]];
  });
  return markUntrusted(
    Object.fromEntries(found),
    found.flatMap(([name]) => (untrusted.has(name) ? name : [])),
  );
}

/** Returns the names of the fields that the updates change in the contact's data. */
export function changedNames(before: Readonly<Data>, updates: Readonly<Data>): string[] {
  const { set, remove } = applyData(updates, 'keep');
  const changed = Object.keys(set).filter((name) => !isDeepStrictEqual(set[name], before[name]));
  return [...changed, ...remove.filter((name) => Object.hasOwn(before, name))];
}

/**
 * Returns the value without the parts whose text had a missing or empty variable. Undefined if nothing of a text
 * remains.
 */
function withoutMissing(template: unknown, value: unknown): unknown {
  if (typeof template === 'string') return value === null || value === '' ? undefined : value;
  if (Array.isArray(template) && Array.isArray(value)) {
    return template.map((item, at) => withoutMissing(item, value[at])).filter((item) => item !== undefined);
  }
  if (!isPlainObject(template) || !isPlainObject(value)) return value;
  const entries = Object.entries(template).map(([name, item]) => [name, withoutMissing(item, value[name])]);
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
}
