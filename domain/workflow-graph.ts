import type { FieldError } from './errors.ts';
import type { StepType } from './execution.ts';

/** A workflow as the check sees it. */
export interface WorkflowGraph {
  triggerType: 'EVENT' | 'MANUAL';
  eventName: string | null;
  entryStepId: string | null;
  steps: {
    id: string;
    type: StepType;
    name: string;
    templateId: string | null;
    /** What is wrong with the step's config by its schema; empty when nothing is. */
    configFaults: string[];
    /** For SEND_EMAIL: whether the step or its template has a sender on a verified domain. */
    senderReady: boolean;
  }[];
  transitions: { fromStepId: string; toStepId: string; branch: string | null }[];
}

/** A step at which an execution pauses; a loop without one would run for ever at once. */
const PAUSES = new Set<StepType>(['DELAY', 'WAIT_FOR_EVENT']);

/** Every fault that keeps a workflow from being enabled, all at once (decisions §7). `field` says which part of the workflow. */
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
  const faults = step.configFaults.map((message) => stepFault(step, `is not configured: ${message}`));
  if (step.type === 'SEND_EMAIL') {
    if (!step.templateId) faults.push(stepFault(step, 'has no template'));
    else if (!step.senderReady)
      faults.push(stepFault(step, 'has no sender on a verified domain, nor has its template'));
  }
  if (step.type === 'CONDITION') {
    const branches = new Set(graph.transitions.filter((t) => t.fromStepId === step.id).map((t) => t.branch));
    for (const branch of ['yes', 'no']) {
      if (!branches.has(branch)) faults.push(stepFault(step, `has no “${branch}” branch`));
    }
  }
  return faults;
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

/** One fault for each loop found by a depth-first walk over the steps that do not pause. */
function loopFaults({ steps, transitions }: WorkflowGraph): FieldError[] {
  const hasty = new Map(steps.filter((step) => !PAUSES.has(step.type)).map((step) => [step.id, step]));
  const state = new Map<string, 'open' | 'done'>();
  const faults: FieldError[] = [];
  function visit(id: string): void {
    state.set(id, 'open');
    for (const { fromStepId, toStepId } of transitions) {
      const to = hasty.get(toStepId);
      if (fromStepId !== id || !to) continue;
      if (state.get(toStepId) === 'open') {
        faults.push(stepFault(to, 'is in a loop that has no DELAY or WAIT_FOR_EVENT in it'));
      } else if (!state.has(toStepId)) visit(toStepId);
    }
    state.set(id, 'done');
  }
  for (const id of hasty.keys()) if (!state.has(id)) visit(id);
  return faults;
}
