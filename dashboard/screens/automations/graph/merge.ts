import type { Graph, Step, Transition } from './graph.ts';
import { isSameUnit } from './graph.ts';

/** A step with its transitions: the unit of changes and conflicts. */
export interface MergeUnit {
  step: Step;
  transitions: Pick<Transition, 'branch' | 'to'>[];
}

/** A step that another user has changed. */
export interface StepDifference {
  id: string;
  name: string;
  /** Absent if only the other user changed the step; null if this user removed the step. */
  mine?: MergeUnit | null;
  /** Null if the other user removed the step. */
  theirs: MergeUnit | null;
}

/** Lists the steps whose saved version differs from `base`, and whether this user has changed them too. */
export function findStepDifferences({
  base,
  mine,
  theirs,
}: Record<'base' | 'mine' | 'theirs', Graph>): StepDifference[] {
  return listStepIds(base, theirs, mine).flatMap((id) => {
    const [before, here, there] = [readMergeUnit(base, id), readMergeUnit(mine, id), readMergeUnit(theirs, id)];
    if (isSameUnit(before, there) || isSameUnit(here, there)) return [];
    const name = (there ?? here ?? before)?.step.name ?? '';
    return [{ id, name, theirs: there, ...(!isSameUnit(before, here) && { mine: here }) }];
  });
}

/**
 * Merges the changes of two users, step by step. The user chooses for each step that both changed. Positions on the
 * canvas are this user's.
 */
export function mergeGraphs(
  graphs: Record<'base' | 'mine' | 'theirs', Graph>,
  choices: Partial<Record<string, 'mine' | 'theirs'>>,
): Graph {
  const { base, mine, theirs } = graphs;
  const merged = listStepIds(mine, theirs).flatMap((id) => {
    const [before, here, there] = [readMergeUnit(base, id), readMergeUnit(mine, id), readMergeUnit(theirs, id)];
    const isMine = !isSameUnit(before, here) && (isSameUnit(before, there) || choices[id] !== 'theirs');
    const unit = isMine ? here : there;
    return unit ? [{ ...unit, step: { ...unit.step, position: here?.step.position ?? unit.step.position } }] : [];
  });
  const stepIds = new Set(merged.map(({ step }) => step.id));
  const transitions = merged.flatMap(({ step, transitions }) =>
    transitions.filter(({ to }) => stepIds.has(to)).map(({ branch, to }) => ({ from: step.id, to, branch })),
  );
  const entry = mine.entry === base.entry ? theirs.entry : mine.entry;
  return {
    entry: entry !== null && stepIds.has(entry) ? entry : null,
    steps: merged.map(({ step }) => step),
    transitions,
  };
}

function readMergeUnit(graph: Graph, id: string): MergeUnit | null {
  const step = graph.steps.find((one) => one.id === id);
  if (!step) return null;
  const transitions = graph.transitions.filter(({ from }) => from === id).map(({ branch, to }) => ({ branch, to }));
  return { step, transitions };
}

function listStepIds(...graphs: Graph[]): string[] {
  return [...new Set(graphs.flatMap(({ steps }) => steps.map(({ id }) => id)))];
}
