import { isSameJson } from './as-code/changes.ts';
import { readOwnValue } from './own-value.ts';

/**
 * Tells whether the value that a request sends at `path` is already in the stored record, alone or as a part of an
 * unchanged object or list. Validation rules that are newer than the record do not apply to such a value. Items of a
 * list may be in another order than in the record. A string, number or boolean inside an item is compared only as a
 * part of the item, or of an object or list inside the item.
 */
export function isStoredAt(path: readonly PropertyKey[], requestValue: unknown, stored: unknown): boolean {
  let value = requestValue;
  let candidates = [stored];
  let isItem = false;
  let isInItem = false;
  for (const key of path) {
    isInItem ||= isItem;
    const isList = Array.isArray(value);
    isItem = isList;
    value = readOwnValue(value, [key]);
    candidates = candidates.flatMap((candidate) =>
      isList ? (Array.isArray(candidate) ? candidate : []) : [readOwnValue(candidate, [key])],
    );
    const isComparable = value !== undefined && !(isInItem && typeof value !== 'object');
    if (isComparable && candidates.some((candidate) => isSameJson(candidate, value))) return true;
  }
  return false;
}

/** True while the input that is being parsed may contain values that only older versions accepted. */
let acceptsOlder = false;

/**
 * Runs `parse` without the rules for new names and expressions. Use it for an input whose refused values are all in the
 * stored record already. `parse` must be synchronous, because this mode is a variable of the module: schemas get only
 * the input.
 */
export function parseWithOlderRules<T>(parse: () => T): T {
  const before = acceptsOlder;
  acceptsOlder = true;
  try {
    return parse();
  } finally {
    acceptsOlder = before;
  }
}

/** Tells whether schemas must skip their rules for new names and expressions at the moment. */
export function isParsingWithOlderRules(): boolean {
  return acceptsOlder;
}
