import type { Graph } from '../../db/workflows/graph.ts';
import type { Next, PathEntry } from '../../rules/executions/execution.ts';
import { stepLabel } from '../../rules/executions/step-label.ts';
import type { Progress } from './progress.ts';

/** As many visits as the Temporal UI lists: a walk may pass more. */
const MAX_ENTRIES = 20;

/**
 * Adds the visits that a walk has ended and passed to where it stopped. The Temporal UI has no other way to list
 * CONDITION, SPLIT and EXIT: they cost Temporal no activity.
 */
export function withPath(next: Next, p: { executionId: string; graph: Graph; progress: Progress }): Next {
  const path = pathOf(p).slice(-MAX_ENTRIES);
  return path.length > 0 ? { ...next, path } : next;
}

function pathOf({ executionId, graph, progress }: { executionId: string; graph: Graph; progress: Progress }) {
  const entries: PathEntry[] = [];
  for (const { executionId: id, visit, status, output } of progress.closed) {
    const took = tookOf(status, output);
    // The workflow knows the step, and that it is over.
    if (id === executionId && took !== undefined) entries.push({ visit, took });
  }
  for (const { executionId: id, visit, stepId, status, output } of progress.visits) {
    const step = graph.steps.get(stepId);
    if (id !== executionId || !step || status === 'RUNNING' || status === 'WAITING') continue;
    const took = tookOf(status, output);
    entries.push({ visit, label: stepLabel(step), ...(took !== undefined && { took }) });
  }
  return entries;
}

function tookOf(status: string, output: Record<string, unknown> | null | undefined): string | undefined {
  if (typeof output?.branch === 'string') return output.branch;
  return status === 'COMPLETED' ? undefined : status.toLowerCase();
}
