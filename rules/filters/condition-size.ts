/** Maximum size of a condition as JSON. Processes that all tenants share store, return, compile and compare it. */
const CONDITION_MAX_BYTES = 64 * 1024;
/** Maximum size of a text that a filter compares with. Usual texts, such as the name of a plan, are far shorter. */
const FILTER_VALUE_MAX_BYTES = 1024;

const DEPTH_MAX = 64;

/** A limit that a condition exceeds, with its place. */
export interface SizeFault {
  path: (string | number)[];
  message: string;
}

/**
 * Checks the size of a new condition in any form: the bytes of the whole, and of each text under a `value`. Stored
 * conditions are not checked, so they stay readable.
 */
export function conditionSizeFault(input: unknown): SizeFault | undefined {
  if (isTooDeep(input, 0)) return undefined; // A malformed condition is reported by its parser.
  if (Buffer.byteLength(JSON.stringify(input) ?? '') > CONDITION_MAX_BYTES)
    return { path: [], message: `A condition is at most ${CONDITION_MAX_BYTES / 1024} KB of JSON.` };
  return longValue(input, []);
}

/** Tells whether an input is nested more deeply than any condition, so that no recursion overflows the stack. */
function isTooDeep(input: unknown, depth: number): boolean {
  if (typeof input !== 'object' || input === null) return false;
  return depth > DEPTH_MAX || Object.values(input).some((member) => isTooDeep(member, depth + 1));
}

function longValue(input: unknown, path: SizeFault['path']): SizeFault | undefined {
  if (typeof input !== 'object' || input === null) return undefined;
  for (const key of Object.keys(input)) {
    const member: unknown = Reflect.get(input, key);
    const here = [...path, Array.isArray(input) ? Number(key) : key];
    const texts = key === 'value' && !Array.isArray(input) ? [member].flat() : [];
    if (texts.some((text) => typeof text === 'string' && Buffer.byteLength(text) > FILTER_VALUE_MAX_BYTES))
      return { path: here, message: `A text to compare with is at most ${FILTER_VALUE_MAX_BYTES / 1024} KB.` };
    const found = longValue(member, here);
    if (found) return found;
  }
  return undefined;
}
