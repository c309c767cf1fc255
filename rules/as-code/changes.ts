import { isDeepStrictEqual } from 'node:util';

/**
 * Returns the fields of `wanted` that differ in `current`. A field that is missing in `wanted` keeps its value, so it
 * is not returned.
 */
export function listChangedFields(wanted: object, current: object): string[] {
  return Object.entries(wanted).flatMap(([name, value]) =>
    value === undefined || isSameJson(value, Reflect.get(current, name)) ? [] : [name],
  );
}

/** Tells whether two values are the same JSON, regardless of the order of keys. */
export function isSameJson(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(asJson(one), asJson(other));
}

function asJson(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text === undefined ? undefined : JSON.parse(text);
}
