/** A value with its earlier values and the values that were undone. */
export interface History<Value> {
  past: Value[];
  present: Value;
  future: Value[];
  /** Subject of the last change: consecutive changes of one subject (typing) are undone together. */
  about: string | null;
}

/** The maximum number of changes that can be undone. */
const PAST_MAX = 200;

export function startHistory<Value>(present: Value): History<Value> {
  return { past: [], present, future: [], about: null };
}

/**
 * Records a change.
 * @param about consecutive changes with the same value are undone together; a change with null is undone alone
 */
export function recordChange<Value>(history: History<Value>, next: Value, about: string | null = null): History<Value> {
  if (next === history.present) return history;
  const goesOn = about !== null && about === history.about && history.future.length === 0;
  const past = goesOn ? history.past : [...history.past, history.present].slice(-PAST_MAX);
  return { past, present: next, future: [], about };
}

export function undo<Value>(history: History<Value>): History<Value> {
  const before = history.past.at(-1);
  if (before === undefined) return history;
  const { past, present, future } = history;
  return { past: past.slice(0, -1), present: before, future: [present, ...future], about: null };
}

export function redo<Value>(history: History<Value>): History<Value> {
  const [next, ...future] = history.future;
  if (next === undefined) return history;
  return { past: [...history.past, history.present], present: next, future, about: null };
}

/**
 * Applies a function to all past, present and future values without recording a change. Used when new steps get their
 * ids.
 */
export function mapHistory<Value>(history: History<Value>, map: (value: Value) => Value): History<Value> {
  return {
    past: history.past.map(map),
    present: map(history.present),
    future: history.future.map(map),
    about: history.about,
  };
}
