import { sameJson } from './as-code/changes.ts';
import { ownValueAt } from './own-value.ts';

/**
 * Tells whether a request sends back what the stored record has at a path, or around it. A rule that is newer than the
 * record does not refuse such a value. An item of a list counts at any position, and only as a whole.
 */
export function isStoredAt(path: readonly PropertyKey[], given: unknown, stored: unknown): boolean {
  let value = given;
  let candidates = [stored];
  let isItem = false;
  let isInItem = false;
  for (const key of path) {
    isInItem ||= isItem;
    const isList = Array.isArray(value);
    isItem = isList;
    value = ownValueAt(value, [key]);
    candidates = candidates.flatMap((candidate) =>
      isList ? (Array.isArray(candidate) ? candidate : []) : [ownValueAt(candidate, [key])],
    );
    const counts = value !== undefined && !(isInItem && typeof value !== 'object');
    if (counts && candidates.some((candidate) => sameJson(candidate, value))) return true;
  }
  return false;
}

/** Whether the input that is being parsed may have values that only records from older versions have. */
let acceptsOlder = false;

/**
 * Runs a synchronous parse that skips the rules for new names and expressions, for an input whose refused parts are all
 * stored already. Schemas are created once and receive only the input, so this is module state during the parse.
 */
export function parseAsOlder<T>(parse: () => T): T {
  const before = acceptsOlder;
  acceptsOlder = true;
  try {
    return parse();
  } finally {
    acceptsOlder = before;
  }
}

/** Tells whether a schema skips its rules for new names and expressions now. */
export function isParsedAsOlder(): boolean {
  return acceptsOlder;
}
