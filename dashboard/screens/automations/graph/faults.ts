import type { FieldFault } from '../../../api/failure.ts';
import type { Graph } from './graph.ts';

/** Errors of a graph, by step. */
export interface GraphFaults {
  /** Errors by step id. */
  steps: Map<string, StepFault[]>;
  /** Errors that belong to no step. */
  rest: string[];
}

export interface StepFault {
  /** The field of its config; undefined if the problem concerns the whole step. */
  field: string | undefined;
  message: string;
}

export const NO_FAULTS: GraphFaults = { steps: new Map(), rest: [] };

/**
 * Groups the API's errors (`steps.<id>…`, `transitions.<index>…`) by step.
 * @param graph the graph that was sent, because errors name transitions by index
 */
export function faultsByStep(faults: readonly FieldFault[], graph: Graph): GraphFaults {
  const steps = new Map<string, StepFault[]>();
  const rest: string[] = [];
  for (const { field, message } of faults) {
    const at = placeOf(field, graph);
    if (!at) rest.push(field === 'entryStepId' || field === 'steps' ? message : `${field}: ${message}`);
    else steps.set(at.id, [...(steps.get(at.id) ?? []), { field: at.field, message }]);
  }
  return { steps, rest };
}

function placeOf(field: string, graph: Graph): { id: string; field: string | undefined } | undefined {
  const [kind, name, ...more] = field.split('.');
  if (kind === 'steps') {
    // Schema errors name a step by its index, graph rules by its id.
    const step = graph.steps.find(({ id }) => id === name) ?? graph.steps[Number(name)];
    if (!step) return undefined;
    const [first, ...deeper] = more;
    const of = first === 'config' ? deeper.join('.') : first;
    return { id: step.id, field: of || undefined };
  }
  const way = kind === 'transitions' ? graph.transitions[Number(name)] : undefined;
  return way && { id: way.from, field: way.branch ?? undefined };
}
