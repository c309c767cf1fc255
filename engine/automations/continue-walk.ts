import type { Visit } from '../../db/executions/visits.ts';
import { follow } from '../../db/workflows/graph.ts';
import type { Branch } from '../../rules/executions/steps/definition.ts';
import { STEPS } from '../../rules/executions/steps/registry.ts';
import type { ExecutionEnvironment } from './environment.ts';
import type { CurrentExecution, LockedExecution } from './locked-executions.ts';
import type { PendingWrites } from './pending-writes.ts';
import { type WalkStop, walk } from './walk.ts';

/** Continues after a finished step. If the step was deleted in the meantime, the execution ends. */
export async function continueWalk(
  environment: ExecutionEnvironment,
  { execution, graph }: LockedExecution,
  p: { visit: Visit; branch?: Branch; pending: PendingWrites },
): Promise<WalkStop> {
  const { visit, branch, pending } = p;
  if (!graph.steps.has(visit.stepId)) return exitDeleted(execution, pending);
  const eventsSince = eventsSinceOf(environment, execution, visit);
  const stepId = follow(graph, visit.stepId, branch);
  const from = visit.visit;
  return walk(environment, { execution, graph, stepId, from, pending, ...(eventsSince && { eventsSince }) });
}

/** Ends a sandbox run as the event would end a real execution: its current step is cancelled. */
export function endSandboxRun(
  execution: CurrentExecution,
  { visit, stepId, reason, pending }: { visit: number; stepId: string; reason: string; pending: PendingWrites },
): WalkStop {
  const { id: executionId } = execution;
  if (execution.run) pending.runs.set(executionId, execution.run);
  pending.closed.push({ executionId, visit, status: 'CANCELLED' });
  pending.passedWaits.push({ executionId, visit });
  pending.positions.push({ executionId, visit: execution.visit, stepId, status: 'EXITED', reason });
  return { next: { kind: 'end', status: 'EXITED', reason } };
}

/** Ends an execution whose current step was deleted. */
export function exitDeleted(execution: CurrentExecution, pending: PendingWrites): WalkStop {
  const { id: executionId, visit } = execution;
  pending.positions.push({ executionId, visit, stepId: null, status: 'EXITED', reason: 'step_deleted' });
  return { next: { kind: 'end', status: 'EXITED', reason: 'step_deleted' } };
}

/**
 * Returns the instant from which events count for a wait that comes next. Events of an email are recorded before its
 * step ends, so they count. The event that the previous step recorded when it ended does not count. `startedAt` has no
 * fraction of a millisecond.
 */
function eventsSinceOf(environment: ExecutionEnvironment, execution: CurrentExecution, visit: Visit): Date | undefined {
  const { sendsEmail } = STEPS[visit.type];
  const { run } = execution;
  if (!run) return sendsEmail ? new Date(visit.startedAt.getTime() + 1) : undefined;
  return sendsEmail && run.since !== null ? new Date(run.since) : environment.now(execution);
}
