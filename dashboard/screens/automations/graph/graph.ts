import type { ResponseOf } from '../../../api/client.ts';

export type WorkflowDetail = ResponseOf<'getWorkflow'>;
export type StepType = WorkflowDetail['steps'][number]['type'];
export type AnyStepConfig = Record<string, unknown>;

export interface CanvasPosition {
  x: number;
  y: number;
}

/** A step on the canvas. A new step has a temporary id until the API gives it an id. */
export interface Step {
  id: string;
  type: StepType;
  name: string;
  config: AnyStepConfig;
  /** Null if no user has placed the step. The automatic layout then places it. */
  position: CanvasPosition | null;
}

/** A transition from one step to another; `branch` is null for a step without branches. */
export interface Transition {
  from: string;
  to: string;
  branch: string | null;
}

/** The graph of an automation. Graphs are immutable: each operation returns a new graph. */
export interface Graph {
  entry: string | null;
  steps: Step[];
  transitions: Transition[];
}

/** A position for a new step: after a step, at a branch. Null is before all other steps. */
export type InsertPoint = { after: string; branch: string | null } | null;

export const EMPTY: Graph = { entry: null, steps: [], transitions: [] };

export function toGraph({ entryStepId, steps, transitions }: WorkflowDetail): Graph {
  return {
    entry: entryStepId,
    steps: steps.map(({ id, type, name, config, position }) => ({ id, type, name, config, position })),
    transitions: transitions.map(({ fromStepId, toStepId, branch }) => ({ from: fromStepId, to: toStepId, branch })),
  };
}

/** Returns the request body that saves the graph. */
export function toSavedGraph(graph: Graph, version: string) {
  return {
    version,
    entryStepId: graph.entry,
    steps: graph.steps,
    transitions: graph.transitions.map(({ from, to, branch }) => ({ fromStepId: from, toStepId: to, branch })),
  };
}

/** Replaces the temporary ids of new steps with the ids from the API. */
export function withIds(graph: Graph, ids: Record<string, string>): Graph {
  const idOf = (id: string) => ids[id] ?? id;
  return {
    entry: graph.entry === null ? null : idOf(graph.entry),
    steps: graph.steps.map((step) => ({ ...step, id: idOf(step.id) })),
    transitions: graph.transitions.map(({ from, to, branch }) => ({ from: idOf(from), to: idOf(to), branch })),
  };
}

/**
 * Returns the branches of a step. Null is the unnamed branch. The API has the same list (`branches` of a step type).
 */
export function listBranches({ type, config }: Pick<Step, 'type' | 'config'>): (string | null)[] {
  switch (type) {
    case 'CONDITION':
      return ['yes', 'no'];
    case 'WAIT_FOR_EVENT':
      return ['event', 'timeout'];
    case 'SPLIT':
      return getSplitBranches(config).map(({ name }) => name);
    case 'EXIT':
      return [];
    default:
      return [null];
  }
}

export function getSplitBranches(config: AnyStepConfig): { name: string; weight: number }[] {
  return Array.isArray(config.branches) ? (config.branches as { name: string; weight: number }[]) : [];
}

/**
 * Returns the transitions of a step that exist or can be added. Besides the transitions of its branches, a
 * WAIT_FOR_EVENT may have one without a branch.
 */
export function listTransitions(graph: Graph, step: Step): { branch: string | null; to: string | null }[] {
  const outgoing = graph.transitions.filter(({ from }) => from === step.id);
  const branches = [...new Set([...listBranches(step), ...outgoing.map(({ branch }) => branch)])];
  return branches.map((branch) => ({
    branch,
    to: outgoing.find((transition) => transition.branch === branch)?.to ?? null,
  }));
}

export function findStep(graph: Graph, id: string | null | undefined): Step | undefined {
  return graph.steps.find((step) => step.id === id);
}

/** Adds a step at a position. If the position already leads to a step, the new step's first branch leads there. */
export function addStep(graph: Graph, step: Step, insertPoint: InsertPoint): Graph {
  const steps = [...graph.steps, step];
  const [firstBranch] = listBranches(step);
  const next = insertPoint === null ? graph.entry : findTarget(graph, insertPoint.after, insertPoint.branch);
  const on = next !== null && firstBranch !== undefined ? [{ from: step.id, to: next, branch: firstBranch }] : [];
  if (insertPoint === null) return { entry: step.id, steps, transitions: [...graph.transitions, ...on] };
  const rest = graph.transitions.filter(
    ({ from, branch }) => !(from === insertPoint.after && branch === insertPoint.branch),
  );
  const into = { from: insertPoint.after, to: step.id, branch: insertPoint.branch };
  return { ...graph, steps, transitions: [...rest, into, ...on] };
}

export function findTarget(graph: Graph, from: string, branch: string | null): string | null {
  return graph.transitions.find((transition) => transition.from === from && transition.branch === branch)?.to ?? null;
}

/** Connects a branch to a step, or to nothing. An earlier transition of the branch is removed. */
export function connect(graph: Graph, { from, to, branch }: Omit<Transition, 'to'> & { to: string | null }): Graph {
  const rest = graph.transitions.filter((transition) => !(transition.from === from && transition.branch === branch));
  return { ...graph, transitions: to === null ? rest : [...rest, { from, to, branch }] };
}

/**
 * Returns the step that takes the position of a removed step: the only step after it. Null if several steps or none
 * come after it.
 */
export function findSpliceTarget(graph: Graph, id: string): string | null {
  const targets = new Set(graph.transitions.filter(({ from, to }) => from === id && to !== id).map(({ to }) => to));
  const [target] = targets;
  return targets.size === 1 && target !== undefined ? target : null;
}

/** Removes a step, and connects the steps before it to the step after it. */
export function removeStep(graph: Graph, id: string): Graph {
  const target = findSpliceTarget(graph, id);
  const transitions = graph.transitions
    .filter(({ from }) => from !== id)
    .flatMap((transition) =>
      transition.to !== id ? [transition] : target === null ? [] : [{ ...transition, to: target }],
    );
  return {
    entry: graph.entry === id ? target : graph.entry,
    steps: graph.steps.filter((step) => step.id !== id),
    transitions,
  };
}

/**
 * Restores a removed step with its transitions from and to steps that still exist. They replace transitions that
 * were added later at the same branches.
 * @param before the graph that contained the step
 */
export function restoreStep(graph: Graph, before: Graph, id: string): Graph {
  const step = findStep(before, id);
  if (!step || findStep(graph, id)) return graph;
  const restored = { ...graph, steps: [...graph.steps, step], entry: before.entry === id ? id : graph.entry };
  const transitions = before.transitions.filter(
    ({ from, to }) => (from === id || to === id) && findStep(restored, from) && findStep(restored, to),
  );
  return transitions.reduce<Graph>(connect, restored);
}

/**
 * Changes a step. If the branches of a SPLIT change, transitions of branches that no longer exist are removed; a
 * renamed branch keeps its transition.
 */
export function changeStep(graph: Graph, id: string, changes: Partial<Omit<Step, 'id' | 'type'>>): Graph {
  const before = findStep(graph, id);
  if (!before) return graph;
  const after = { ...before, ...changes };
  const steps = graph.steps.map((step) => (step.id === id ? after : step));
  if (before.type !== 'SPLIT') return { ...graph, steps };
  return { ...graph, steps, transitions: keepTransitions(graph.transitions, before, after) };
}

function keepTransitions(transitions: Transition[], before: Step, after: Step): Transition[] {
  const [old, now] = [listBranches(before), listBranches(after)];
  const renamed = old.length === now.length;
  return transitions.flatMap((transition) => {
    if (transition.from !== before.id || now.includes(transition.branch)) return [transition];
    const index = old.indexOf(transition.branch);
    const branch = now[index];
    return renamed && index >= 0 && branch !== undefined ? [{ ...transition, branch }] : [];
  });
}

/** A step in the list of steps, with the number of branches that it is nested in. */
export interface OrderedStep {
  step: Step;
  depth: number;
  /** The branch that this step starts. Null if it continues a branch, or if several branches lead to it. */
  starts: { from: string; branch: string } | null;
}

/**
 * Returns steps in the order in which a contact reaches them, branch by branch. A step that several branches lead to
 * comes after them, at the depth that they share. Unreachable steps come last.
 */
export function orderSteps(graph: Graph): OrderedStep[] {
  const branches = new Map<string, string[]>();
  return sortTopDown(graph).map((step) => {
    // Transitions from later steps lead back, in a loop.
    const transitions = graph.transitions.filter(({ from, to }) => to === step.id && branches.has(from));
    const paths = transitions.map(({ from, branch }) => [
      ...(branches.get(from) ?? []),
      ...(branch === null ? [] : [JSON.stringify([from, branch])]),
    ]);
    const shared = paths.reduce((one, other) => one.slice(0, countSharedBranches(one, other)), paths[0] ?? []);
    branches.set(step.id, shared);
    const [transition, ...more] = transitions;
    const starts =
      transition && transition.branch !== null && more.length === 0
        ? { from: transition.from, branch: transition.branch }
        : null;
    return { step, depth: shared.length, starts };
  });
}

function countSharedBranches(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((branch, n) => branch !== other[n]);
  return at === -1 ? one.length : at;
}

/** Returns the steps so that each comes before its next steps, except in loops. */
function sortTopDown(graph: Graph): Step[] {
  const seen = new Set<string>();
  const roots = [...(graph.entry === null ? [] : [graph.entry]), ...graph.steps.map(({ id }) => id)];
  return roots.flatMap((root) => {
    const bottomUp: Step[] = [];
    // The stack has a step twice: first to visit it, then to add it to the result after all steps that it leads to.
    const stack: { id: string; leaves?: Step }[] = [{ id: root }];
    for (let at = stack.pop(); at; at = stack.pop()) {
      const step = findStep(graph, at.id);
      if (at.leaves) bottomUp.push(at.leaves);
      if (at.leaves || !step || seen.has(at.id)) continue;
      seen.add(at.id);
      const next = listTransitions(graph, step).flatMap(({ to }) => (to === null ? [] : [{ id: to }]));
      stack.push({ id: at.id, leaves: step }, ...next);
    }
    return bottomUp.reverse();
  });
}

/** Returns whether two graphs are the same for the API. */
export function isSameGraph(one: Graph, other: Graph): boolean {
  return one === other || serializeGraph(one) === serializeGraph(other);
}

/**
 * Returns whether two steps with their transitions are equal for the API, regardless of their positions on the canvas.
 */
export function isSameUnit(
  one: { step: Step; transitions: Pick<Transition, 'branch' | 'to'>[] } | null,
  other: { step: Step; transitions: Pick<Transition, 'branch' | 'to'>[] } | null,
): boolean {
  const canonicalUnit = (unit: typeof one) =>
    unit &&
    serializeGraph({
      entry: null,
      steps: [{ ...unit.step, position: null }],
      transitions: unit.transitions.map(({ branch, to }) => ({ from: unit.step.id, branch, to })),
    });
  return canonicalUnit(one) === canonicalUnit(other);
}

function serializeGraph({ entry, steps, transitions }: Graph): string {
  const byId = [...steps].sort((a, b) => (a.id < b.id ? -1 : 1));
  return JSON.stringify([
    entry,
    byId.map(({ id, type, name, config, position }) => [id, type, name, sortKeys(config), position]),
    transitions.map(({ from, to, branch }) => JSON.stringify([from, to, branch])).sort(),
  ]);
}

/** Sorts keys, so that their order does not matter. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sortKeys(item)]),
  );
}
