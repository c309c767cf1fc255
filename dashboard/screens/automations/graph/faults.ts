import type { ApiFieldError } from '../../../api/failure.ts';
import type { Graph, Step } from './graph.ts';
import { findIssueText, findSettingIssue } from './issue-text.ts';

/** Errors of a graph, by step. */
export interface GraphFaults {
  /** Errors by step id. */
  steps: Map<string, StepFault[]>;
  /** Errors that belong to no step. */
  rest: string[];
}

export interface StepFault {
  /** The field of the step's config, or the name of a branch; undefined if the problem concerns the whole step. */
  field: string | undefined;
  message: string;
}

export const NO_FAULTS: GraphFaults = { steps: new Map(), rest: [] };

/**
 * Groups the API's errors (`steps.<id>…`, `transitions.<index>…`) by step, with the editor's messages.
 * @param graph the graph that was sent, because errors name transitions by index
 */
export function groupFaultsByStep(faults: readonly ApiFieldError[], graph: Graph): GraphFaults {
  const steps = new Map<string, StepFault[]>();
  const rest: string[] = [];
  for (const { field, message } of faults) {
    const at = findFaultLocation(field, graph);
    if (!at) {
      const ownText = findIssueText(message);
      rest.push(ownText ?? (field === 'entryStepId' || field === 'steps' ? message : `${field}: ${message}`));
      continue;
    }
    const earlier = steps.get(at.step.id) ?? [];
    const fault = createStepFault(at, message);
    // Several errors of the API can have the same remedy, which is shown once.
    if (!earlier.some((other) => other.message === fault.message)) steps.set(at.step.id, [...earlier, fault]);
  }
  return { steps, rest };
}

interface FaultLocation {
  step: Step;
  field: string | undefined;
}

function createStepFault({ step, field }: FaultLocation, message: string): StepFault {
  // The API's message starts with the type and the name of the step, which the editor shows beside it.
  const title = `${step.type} “${step.name}” `;
  const issue = message.startsWith(title) ? message.slice(title.length) : message;
  return findSettingIssue(issue) ?? { field, message: findIssueText(issue) ?? issue };
}

function findFaultLocation(field: string, graph: Graph): FaultLocation | undefined {
  const [kind, name, ...more] = field.split('.');
  if (kind === 'steps') {
    // Schema errors name a step by its index, graph rules by its id.
    const step = graph.steps.find(({ id }) => id === name) ?? graph.steps[Number(name)];
    if (!step) return undefined;
    const [first, ...deeper] = more;
    const of = first === 'config' ? deeper.join('.') : first;
    return { step, field: of || undefined };
  }
  const transition = kind === 'transitions' ? graph.transitions[Number(name)] : undefined;
  const step = graph.steps.find(({ id }) => id === transition?.from);
  return step && { step, field: transition?.branch ?? undefined };
}
