/**
 * Returns the value at a path, reading only own properties. Undefined if a property of the path is missing. An
 * inherited property, such as `constructor`, counts as missing.
 */
export function readOwnValue(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}
