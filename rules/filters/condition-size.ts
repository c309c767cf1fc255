/**
 * The maximum size of a condition as JSON. All tenants share the processes that store, return, compile and evaluate
 * conditions.
 */
const CONDITION_MAX_BYTES = 64 * 1024;
/** The maximum size of a text in a filter's value. Usual values, such as the name of a plan, are far shorter. */
const FILTER_VALUE_MAX_BYTES = 1024;

const DEPTH_MAX = 64;

/** A limit that a condition exceeds, and the path of the value that exceeds it. */
export interface SizeError {
  path: (string | number)[];
  message: string;
}

/**
 * Checks the size of a new condition in any form: the whole condition, and each text under a key `value`. Stored
 * conditions are not checked, so they can always be read.
 */
export function findConditionSizeError(input: unknown): SizeError | undefined {
  if (isTooDeep(input, 0)) return undefined; // The parser of conditions reports this error.
  if (Buffer.byteLength(JSON.stringify(input) ?? '') > CONDITION_MAX_BYTES)
    return { path: [], message: `A condition is at most ${CONDITION_MAX_BYTES / 1024} KB of JSON.` };
  return findLongValue(input, []);
}

/**
 * Tells whether an input is nested more deeply than any valid condition. A recursive function could then overflow the
 * stack.
 */
function isTooDeep(input: unknown, depth: number): boolean {
  if (typeof input !== 'object' || input === null) return false;
  return depth > DEPTH_MAX || Object.values(input).some((member) => isTooDeep(member, depth + 1));
}

function findLongValue(input: unknown, path: SizeError['path']): SizeError | undefined {
  if (typeof input !== 'object' || input === null) return undefined;
  for (const key of Object.keys(input)) {
    const member: unknown = Reflect.get(input, key);
    const memberPath = [...path, Array.isArray(input) ? Number(key) : key];
    const texts = key === 'value' && !Array.isArray(input) ? [member].flat() : [];
    if (texts.some((text) => typeof text === 'string' && Buffer.byteLength(text) > FILTER_VALUE_MAX_BYTES))
      return { path: memberPath, message: `A text to compare with is at most ${FILTER_VALUE_MAX_BYTES / 1024} KB.` };
    const found = findLongValue(member, memberPath);
    if (found) return found;
  }
  return undefined;
}
