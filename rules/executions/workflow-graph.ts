import type { FieldError } from '../errors.ts';
import { groupBy } from '../filters/group-by.ts';
import { MIN_CYCLE_WAIT_MS } from './loop-guard.ts';
import type { UncheckedStep } from './steps/definition.ts';
import { STEPS, type StepType } from './steps/registry.ts';

/** How contacts enter a workflow. */
export type TriggerType = 'EVENT' | 'MANUAL';

/** The parts of a workflow that `checkGraph` reads. */
export interface WorkflowGraph {
  triggerType: TriggerType;
  eventName: string | null;
  entryStepId: string | null;
  steps: (UncheckedStep & { id: string; type: StepType; name: string })[];
  transitions: { fromStepId: string; toStepId: string; branch: string | null }[];
}

/**
 * Returns all errors that prevent a workflow from being enabled (contract §7.1 Entry and enabling). `field` names the
 * part of the workflow with the error.
 */
export function checkGraph(graph: WorkflowGraph): FieldError[] {
  return [
    ...checkTrigger(graph),
    ...checkEntry(graph),
    ...graph.steps.flatMap((step) => checkStep(graph, step)),
    ...findUnreachableSteps(graph),
    ...checkLoops(graph),
  ];
}

const createError = (field: string, message: string): FieldError => ({ field, message, code: 'custom' });
const createStepError = (step: WorkflowGraph['steps'][number], message: string): FieldError =>
  createError(`steps.${step.id}`, `${step.type} “${step.name}” ${message}`);

function checkTrigger({ triggerType, eventName }: WorkflowGraph): FieldError[] {
  return triggerType === 'EVENT' && !eventName
    ? [createError('eventName', 'the workflow is started by an event, but none is named')]
    : [];
}

function checkEntry({ entryStepId, steps }: WorkflowGraph): FieldError[] {
  if (steps.length === 0) return [createError('steps', 'the workflow has no steps')];
  const found = steps.some((step) => step.id === entryStepId);
  return found ? [] : [createError('entryStepId', 'the workflow has no entry step: patch entryStepId')];
}

function checkStep(graph: WorkflowGraph, step: WorkflowGraph['steps'][number]): FieldError[] {
  const faults = [...STEPS[step.type].faults(step), ...findMissingBranches(graph, step)];
  return faults.map((message) => createStepError(step, message));
}

/**
 * Lists branches without a transition. An execution could not continue at such a branch, unless the step allows a
 * transition without a branch.
 */
function findMissingBranches(
  { transitions }: WorkflowGraph,
  { id, type, config }: WorkflowGraph['steps'][number],
): string[] {
  const branches = STEPS[type].branches(config);
  if (branches.includes(null)) return [];
  const existing = new Set(transitions.filter((t) => t.fromStepId === id).map((t) => t.branch));
  return branches.filter((branch) => !existing.has(branch)).map((branch) => `has no “${branch}” branch`);
}

function findUnreachableSteps({ entryStepId, steps, transitions }: WorkflowGraph): FieldError[] {
  const entry = steps.find((step) => step.id === entryStepId);
  if (!entry) return [];
  const reached = new Set([entry.id]);
  const queue = [entry.id];
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    for (const { fromStepId, toStepId } of transitions) {
      if (fromStepId !== id || reached.has(toStepId)) continue;
      reached.add(toStepId);
      queue.push(toStepId);
    }
  }
  return steps
    .filter((step) => !reached.has(step.id))
    .map((step) => createStepError(step, 'cannot be reached from the entry'));
}

/**
 * Returns errors for cycles that certainly wait less than `MIN_CYCLE_WAIT_MS`, each at one step of a cycle. A step is
 * reported in at most one cycle. A cycle whose waiting time is unknown (because of a WAIT_FOR_EVENT, or a DELAY until a
 * variable) is allowed. If an execution then repeats a step too soon, it ends as FAILED with `loop`.
 */
function checkLoops({ steps, transitions }: WorkflowGraph): FieldError[] {
  const waits = new Map(steps.map((step) => [step.id, minWaitMs(step)]));
  const targets = new Map(
    [...groupBy(transitions, (t) => t.fromStepId)].map(([id, all]) => [id, all.map((t) => t.toStepId)]),
  );
  const onCycle = findStepsOnCycles(
    steps.map(({ id }) => id),
    targets,
  );
  const reported = new Set<string>();
  return steps.flatMap((step) => {
    if (reported.has(step.id) || !onCycle.has(step.id)) return [];
    const loop = findShortestLoop(step.id, waits, targets);
    if (!loop) return [];
    for (const id of loop.stepIds) reported.add(id);
    return [
      createStepError(
        step,
        `is in a loop that repeats after ${loop.waitMs / 1_000} s; a loop must wait at least ${MIN_CYCLE_WAIT_MS / 1_000} s`,
      ),
    ];
  });
}

/**
 * Returns the steps that may be on a cycle. Repeatedly removes steps without a transition to a remaining step, until no
 * such step remains. In a graph without cycles, this removes all steps, so no search for cycles is needed.
 */
function findStepsOnCycles(ids: string[], targets: Map<string, string[]>): Set<string> {
  const remaining = new Set(ids);
  const exitCounts = new Map(ids.map((id) => [id, 0]));
  const from = new Map<string, string[]>();
  for (const [id, all] of targets) {
    for (const to of all) {
      from.set(to, [...(from.get(to) ?? []), id]);
      exitCounts.set(id, (exitCounts.get(id) ?? 0) + 1);
    }
  }
  const ends = ids.filter((id) => exitCounts.get(id) === 0);
  for (let id = ends.pop(); id !== undefined; id = ends.pop()) {
    remaining.delete(id);
    for (const before of from.get(id) ?? []) {
      const n = (exitCounts.get(before) ?? 0) - 1;
      exitCounts.set(before, n);
      if (n === 0) ends.push(before);
    }
  }
  return remaining;
}

/** Returns the minimum time that each visit to the step waits, or Infinity if the time is unknown. */
function minWaitMs({ type, config }: WorkflowGraph['steps'][number]): number {
  const step = STEPS[type];
  return step.kind === 'pause' ? step.minWaitMs(config) : 0;
}

/**
 * Finds the cycle with the shortest waiting time through a step, by Dijkstra's algorithm. Undefined if there is no
 * cycle, if its waiting time is unknown, or if it waits at least `MIN_CYCLE_WAIT_MS`.
 */
function findShortestLoop(
  start: string,
  waits: Map<string, number>,
  targets: Map<string, string[]>,
): { waitMs: number; stepIds: string[] } | undefined {
  const reached = new Map<string, { waitMs: number; from: string }>();
  const done = new Set<string>();
  let at: { id: string; waitMs: number } | undefined = { id: start, waitMs: 0 };
  while (at) {
    const { id: from, waitMs }: { id: string; waitMs: number } = at;
    const leaving = waitMs + (waits.get(from) ?? 0);
    for (const id of targets.get(from) ?? []) {
      if (leaving < (reached.get(id)?.waitMs ?? Number.POSITIVE_INFINITY)) reached.set(id, { waitMs: leaving, from });
    }
    at = undefined;
    for (const [id, { waitMs: soFar }] of reached) {
      if (!done.has(id) && soFar < (at?.waitMs ?? Number.POSITIVE_INFINITY)) at = { id, waitMs: soFar };
    }
    if (at && at.waitMs >= MIN_CYCLE_WAIT_MS) return undefined;
    if (at?.id === start) return { waitMs: at.waitMs, stepIds: listPathTo(start, reached) };
    if (at) done.add(at.id);
  }
  return undefined;
}

function listPathTo(start: string, reached: Map<string, { from: string }>): string[] {
  const ids = [start];
  for (let id = reached.get(start)?.from; id !== undefined && id !== start; id = reached.get(id)?.from) ids.push(id);
  return ids;
}
