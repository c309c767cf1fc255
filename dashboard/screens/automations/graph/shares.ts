import type { ResponseOf } from '../../../api/client.ts';
import type { Graph } from './graph.ts';

type StepStats = ResponseOf<'getWorkflowStats'>['steps'][number];

/**
 * The number of contacts that left a step by a branch, and their share of all contacts that left the step (0 to 1);
 * null if no contact has left.
 */
export interface Flow {
  n: number;
  share: number | null;
}

export const flowKey = (from: string, branch: string | null): string => `${from} ${branch ?? ''}`;

/** Returns the flow along each transition on the canvas, by `flowKey`. */
export function computeFlows(graph: Graph, stats: readonly StepStats[]): Map<string, Flow> {
  const byStep = new Map(stats.map((step) => [step.stepId, step]));
  return new Map(
    graph.transitions.map(({ from, branch }) => {
      const step = byStep.get(from);
      return [flowKey(from, branch), step ? calculateFlow(step, branch) : { n: 0, share: null }];
    }),
  );
}

function calculateFlow({ branches, completed, skipped, failed }: StepStats, branch: string | null): Flow {
  const byBranch = Object.values(branches).reduce((sum, n) => sum + n, 0);
  // All contacts that finished the step leave it by the unnamed branch, whatever the result.
  const total = byBranch > 0 || branch !== null ? byBranch : completed + skipped + failed;
  const n = branch === null ? (byBranch > 0 ? 0 : total) : (branches[branch] ?? 0);
  return { n, share: total === 0 ? null : n / total };
}
