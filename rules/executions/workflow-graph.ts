import type { FieldError } from '../errors.ts';
import { groupBy } from '../filters/group-by.ts';
import { MIN_CYCLE_WAIT_MS } from './loop-guard.ts';
import type { DrawnStep } from './steps/definition.ts';
import { STEPS, type StepType } from './steps/registry.ts';

/** How contacts enter a workflow. */
export type TriggerType = 'EVENT' | 'MANUAL';

/** The parts of a workflow that the check reads. */
export interface WorkflowGraph {
  triggerType: TriggerType;
  eventName: string | null;
  entryStepId: string | null;
  steps: (DrawnStep & { id: string; type: StepType; name: string })[];
  transitions: { fromStepId: string; toStepId: string; branch: string | null }[];
}

/**
 * Returns all errors that keep a workflow from being enabled (contract §7.1 Entry and enabling). `field` names the
 * part of the workflow.
 */
export function checkGraph(graph: WorkflowGraph): FieldError[] {
  return [
    ...triggerFaults(graph),
    ...entryFaults(graph),
    ...graph.steps.flatMap((step) => stepFaults(graph, step)),
    ...unreachable(graph),
    ...loopFaults(graph),
  ];
}

const fault = (field: string, message: string): FieldError => ({ field, message, code: 'custom' });
const stepFault = (step: WorkflowGraph['steps'][number], message: string): FieldError =>
  fault(`steps.${step.id}`, `${step.type} “${step.name}” ${message}`);

function triggerFaults({ triggerType, eventName }: WorkflowGraph): FieldError[] {
  return triggerType === 'EVENT' && !eventName
    ? [fault('eventName', 'the workflow is started by an event, but none is named')]
    : [];
}

function entryFaults({ entryStepId, steps }: WorkflowGraph): FieldError[] {
  if (steps.length === 0) return [fault('steps', 'the workflow has no steps')];
  const found = steps.some((step) => step.id === entryStepId);
  return found ? [] : [fault('entryStepId', 'the workflow has no entry step: patch entryStepId')];
}

function stepFaults(graph: WorkflowGraph, step: WorkflowGraph['steps'][number]): FieldError[] {
  const faults = [...STEPS[step.type].faults(step), ...branchFaults(graph, step)];
  return faults.map((message) => stepFault(step, message));
}

/** Lists missing branches. Without a plain transition, a branch without a transition leads nowhere. */
function branchFaults({ transitions }: WorkflowGraph, { id, type, config }: WorkflowGraph['steps'][number]): string[] {
  const branches = STEPS[type].branches(config);
  if (branches.includes(null)) return [];
  const drawn = new Set(transitions.filter((t) => t.fromStepId === id).map((t) => t.branch));
  return branches.filter((branch) => !drawn.has(branch)).map((branch) => `has no “${branch}” branch`);
}

function unreachable({ entryStepId, steps, transitions }: WorkflowGraph): FieldError[] {
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
    .map((step) => stepFault(step, 'cannot be reached from the entry'));
}

/**
 * Returns one error per cycle that certainly takes less than `MIN_CYCLE_WAIT_MS`, at one of its steps. A cycle of unknown length
 * (a WAIT_FOR_EVENT, a DELAY until a variable) passes; an execution that returns too early ends FAILED `loop`.
 */
function loopFaults({ steps, transitions }: WorkflowGraph): FieldError[] {
  const waits = new Map(steps.map((step) => [step.id, sureWaitMs(step)]));
  const targets = new Map(
    [...groupBy(transitions, (t) => t.fromStepId)].map(([id, all]) => [id, all.map((t) => t.toStepId)]),
  );
  const round = onLoops(
    steps.map(({ id }) => id),
    targets,
  );
  const reported = new Set<string>();
  return steps.flatMap((step) => {
    if (reported.has(step.id) || !round.has(step.id)) return [];
    const loop = shortestLoop(step.id, waits, targets);
    if (!loop) return [];
    for (const id of loop.stepIds) reported.add(id);
    return [
      stepFault(
        step,
        `is in a loop that waits ${loop.waitMs / 1_000} s a lap; one takes at least ${MIN_CYCLE_WAIT_MS / 1_000} s`,
      ),
    ];
  });
}

/**
 * Returns the steps that may be on a cycle: the steps that remain after removing, repeatedly, steps that lead
 * nowhere. A graph without cycles has no such steps, so only possible cycles are searched.
 */
function onLoops(ids: string[], targets: Map<string, string[]>): Set<string> {
  const left = new Set(ids);
  const leading = new Map(ids.map((id) => [id, 0]));
  const from = new Map<string, string[]>();
  for (const [id, all] of targets) {
    for (const to of all) {
      from.set(to, [...(from.get(to) ?? []), id]);
      leading.set(id, (leading.get(id) ?? 0) + 1);
    }
  }
  const ends = ids.filter((id) => leading.get(id) === 0);
  for (let id = ends.pop(); id !== undefined; id = ends.pop()) {
    left.delete(id);
    for (const before of from.get(id) ?? []) {
      const n = (leading.get(before) ?? 0) - 1;
      leading.set(before, n);
      if (n === 0) ends.push(before);
    }
  }
  return left;
}

/** Returns the minimum waiting of each visit to the step; Infinity if it is unknown. */
function sureWaitMs({ type, config }: WorkflowGraph['steps'][number]): number {
  const step = STEPS[type];
  return step.kind === 'pause' ? step.sureWaitMs(config) : 0;
}

/**
 * Returns the cycle through a step that waits least, by Dijkstra's algorithm. Undefined if no cycle exists, its
 * length is unknown, or it waits at least `MIN_CYCLE_WAIT_MS`.
 */
function shortestLoop(
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
    if (at?.id === start) return { waitMs: at.waitMs, stepIds: wayBack(start, reached) };
    if (at) done.add(at.id);
  }
  return undefined;
}

function wayBack(start: string, reached: Map<string, { from: string }>): string[] {
  const ids = [start];
  for (let id = reached.get(start)?.from; id !== undefined && id !== start; id = reached.get(id)?.from) ids.push(id);
  return ids;
}
