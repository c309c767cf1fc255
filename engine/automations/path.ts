import type { Graph } from '../../db/workflows/graph.ts';
import type { Next, PathEntry } from '../../rules/executions/execution.ts';
import { formatStepLabel } from '../../rules/executions/step-label.ts';
import type { PendingWrites } from './pending-writes.ts';

/**
 * The maximum number of visits that the Temporal UI lists for one walk. If a walk has more visits, the UI lists the
 * last visits.
 */
const MAX_ENTRIES = 20;

/**
 * Adds the path of a walk, which is the list of its visits, to the result for Temporal. Without the path, the Temporal
 * UI would not list CONDITION, SPLIT and EXIT steps, because these steps run no activity.
 */
export function addPath(next: Next, p: { executionId: string; graph: Graph; pending: PendingWrites }): Next {
  const path = listPathEntries(p).slice(-MAX_ENTRIES);
  return path.length > 0 ? { ...next, path } : next;
}

function listPathEntries({
  executionId,
  graph,
  pending,
}: {
  executionId: string;
  graph: Graph;
  pending: PendingWrites;
}) {
  const entries: PathEntry[] = [];
  for (const { executionId: id, visit, status, output } of pending.closed) {
    const took = describeResult(status, output);
    // This entry has no label, because the Temporal workflow already has the label of the step that ended.
    if (id === executionId && took !== undefined) entries.push({ visit, took });
  }
  for (const { executionId: id, visit, stepId, status, output } of pending.visits) {
    const step = graph.steps.get(stepId);
    if (id !== executionId || !step || status === 'RUNNING' || status === 'WAITING') continue;
    const took = describeResult(status, output);
    entries.push({ visit, label: formatStepLabel(step), ...(took !== undefined && { took }) });
  }
  return entries;
}

function describeResult(status: string, output: Record<string, unknown> | null | undefined): string | undefined {
  if (typeof output?.branch === 'string') return output.branch;
  return status === 'COMPLETED' ? undefined : status.toLowerCase();
}
