import { sameJson } from './as-code/changes.ts';
import { ownValueAt } from './own-value.ts';

/**
 * Tells whether a request sends back what the stored record has at a path, or around it. A rule that is newer than the
 * record does not refuse such a value. An item of a list counts at any position, and only as a whole.
 */
export function isStoredAt(path: readonly PropertyKey[], given: unknown, stored: unknown): boolean {
  let value = given;
  let candidates = [stored];
  let isInList = false;
  for (const key of path) {
    const isList = Array.isArray(value);
    isInList ||= isList;
    value = ownValueAt(value, [key]);
    candidates = candidates.flatMap((candidate) =>
      isList ? (Array.isArray(candidate) ? candidate : []) : [ownValueAt(candidate, [key])],
    );
    const counts = value !== undefined && !(isInList && typeof value !== 'object');
    if (counts && candidates.some((candidate) => sameJson(candidate, value))) return true;
  }
  return false;
}
