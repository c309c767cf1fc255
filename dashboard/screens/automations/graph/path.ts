import type { Graph } from './graph.ts';
import { flowKey } from './shares.ts';

/** A visited step, as a preview or an execution reports it. */
export interface Visited {
  stepId: string;
  status: string;
  startedAt: string;
  completedAt: string | null;
  branch: string | null;
  /** Why a step did nothing. */
  reason?: string | null;
}

/** Highlighted parts of the canvas. */
export interface HighlightedPath {
  /** The last visit to each step. */
  steps: Map<string, Visited>;
  /** Highlighted transitions, by `flowKey`. */
  transitions: Set<string>;
}

/** Returns the path of a run through the graph: its steps and transitions. */
export function findPath(graph: Graph, visits: readonly Visited[]): HighlightedPath {
  const steps = new Map(visits.map((visit) => [visit.stepId, visit]));
  const transitions = new Set<string>();
  for (const [index, { stepId, branch }] of visits.entries()) {
    const to = visits[index + 1]?.stepId;
    if (to === undefined) continue;
    const crossed = graph.transitions.filter((transition) => transition.from === stepId && transition.to === to);
    const transition =
      crossed.find((one) => one.branch === branch) ?? crossed.find((one) => one.branch === null) ?? crossed[0];
    if (transition) transitions.add(flowKey(transition.from, transition.branch));
  }
  return { steps, transitions };
}
