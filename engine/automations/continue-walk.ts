import type { Visit } from '../../db/executions/visits.ts';
import { findNextStep } from '../../db/workflows/graph.ts';
import type { Branch } from '../../rules/executions/steps/definition.ts';
import { STEPS } from '../../rules/executions/steps/registry.ts';
import type { ExecutionEnvironment } from './environment.ts';
import type { CurrentExecution, LockedExecution } from './locked-executions.ts';
import type { PendingWrites } from './pending-writes.ts';
import { type WalkStop, walk } from './walk.ts';

/**
 * Continues an execution with the step that follows a finished step. If the finished step was deleted in the meantime,
 * the execution ends.
 * @param p.endedAt when a pause was over; the current time if absent
 */
export async function continueWalk(
  environment: ExecutionEnvironment,
  { execution, graph }: LockedExecution,
  p: { visit: Visit; endedAt?: Date | undefined; branch?: Branch; pending: PendingWrites },
): Promise<WalkStop> {
  const { visit, endedAt, branch, pending } = p;
  if (!graph.steps.has(visit.stepId)) return endAtDeletedStep(execution, pending);
  const eventsSince = getEventsSince(environment, execution, { visit, endedAt });
  const stepId = findNextStep(graph, visit.stepId, branch);
  const from = visit.visit;
  return walk(environment, { execution, graph, stepId, from, pending, ...(eventsSince && { eventsSince }) });
}

/** Ends a sandbox run when one of its own events matches an exit. Cancels the current step, as for a real execution. */
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
export function endAtDeletedStep(execution: CurrentExecution, pending: PendingWrites): WalkStop {
  const { id: executionId, visit } = execution;
  pending.positions.push({ executionId, visit, stepId: null, status: 'EXITED', reason: 'step_deleted' });
  return { next: { kind: 'end', status: 'EXITED', reason: 'step_deleted' } };
}

/**
 * Returns the instant from which recorded events count for the wait after this visit. After a pause, this is the end of
 * the pause. If the visited step sends an email, the events of that email count, because they are recorded while the
 * step still runs. An event that the step before the visited step recorded at its end does not count. Such an event has
 * the same time as `startedAt` of the visit, which is rounded down to milliseconds, so the returned instant is 1 ms
 * later. Undefined means the time of the transaction. In a sandbox or preview, the instant is in the time of the run.
 */
function getEventsSince(
  environment: ExecutionEnvironment,
  execution: CurrentExecution,
  { visit, endedAt }: { visit: Visit; endedAt: Date | undefined },
): Date | undefined {
  const { sendsEmail } = STEPS[visit.type];
  const { run } = execution;
  if (!run) return sendsEmail ? new Date(visit.startedAt.getTime() + 1) : endedAt;
  return sendsEmail && run.since !== null ? new Date(run.since) : environment.now(execution);
}
