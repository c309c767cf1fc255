import { useRef, useState } from 'react';

/** Values before and after a change, of the fields that it changed. */
interface Step<Fields> {
  before: Partial<Fields>;
  after: Partial<Fields>;
  /** When the step was last extended, in milliseconds since 1970. Undefined if no change may extend it. */
  atMs: number | undefined;
}

/** Changes of the same fields within this time are one step: typing a word is not undone letter by letter. */
const ONE_STEP_MS = 1_000;
const STEPS_MAX = 100;

export interface Undo<Fields> {
  /**
   * Applies a change that can be undone.
   * @param isOwnStep whether the change is undone alone, and not with the changes just before and after it
   */
  change: (part: Partial<Fields>, isOwnStep?: boolean) => void;
  undo: (() => void) | undefined;
  redo: (() => void) | undefined;
}

/**
 * Adds undo and redo to the editing of a record's fields. Only changes of this user are undone; fields that another
 * user saved meanwhile stay.
 */
export function useUndo<Fields extends object>(fields: Fields, apply: (part: Partial<Fields>) => void): Undo<Fields> {
  const [past, setPast] = useState<Step<Fields>[]>([]);
  const [future, setFuture] = useState<Step<Fields>[]>([]);
  const current = useRef(fields);
  current.current = fields;
  const last = past.at(-1);
  const next = future.at(-1);
  return {
    change: (part, isOwnStep = false) => {
      setPast((steps) => extendSteps(steps, createStep(current.current, part, isOwnStep)));
      setFuture([]);
      apply(part);
    },
    undo:
      last &&
      (() => {
        setPast(past.slice(0, -1));
        setFuture([...future, last]);
        apply(last.before);
      }),
    redo:
      next &&
      (() => {
        setFuture(future.slice(0, -1));
        setPast([...past, { ...next, atMs: undefined }]);
        apply(next.after);
      }),
  };
}

function createStep<Fields extends object>(fields: Fields, after: Partial<Fields>, isOwnStep: boolean): Step<Fields> {
  const before: Partial<Fields> = {};
  for (const key of Object.keys(after) as (keyof Fields)[]) before[key] = fields[key];
  return { before, after, atMs: isOwnStep ? undefined : Date.now() };
}

/** Adds a step, or extends the last one if it changed the same fields just now. Exported for its test. */
export function extendSteps<Fields>(steps: Step<Fields>[], step: Step<Fields>): Step<Fields>[] {
  const last = steps.at(-1);
  const isSame = last && Object.keys(last.after).join() === Object.keys(step.after).join();
  const isJoined = isSame && last.atMs !== undefined && step.atMs !== undefined && step.atMs - last.atMs <= ONE_STEP_MS;
  if (!isJoined) return [...steps, step].slice(-STEPS_MAX);
  return [...steps.slice(0, -1), { ...step, before: last.before }];
}
