import type { Visit } from '../../db/executions/visits.ts';
import { follow } from '../../db/workflows/graph.ts';
import type { Branch } from '../../rules/executions/steps/definition.ts';
import { STEPS } from '../../rules/executions/steps/registry.ts';
import type { Progress } from './progress.ts';
import type { LockedExecution, StandingExecution } from './standing.ts';
import { type Stop, walk } from './walk.ts';
import type { World } from './world.ts';

/** Goes on after a step that is done. A step that was deleted meanwhile leads nowhere: the execution ends there. */
export async function walkOn(
  world: World,
  { execution, graph }: LockedExecution,
  p: { visit: Visit; branch?: Branch; progress: Progress },
): Promise<Stop> {
  const { visit, branch, progress } = p;
  if (!graph.steps.has(visit.stepId)) return exitDeleted(execution, progress);
  const eventsSince = eventsSinceOf(world, execution, visit);
  const stepId = follow(graph, visit.stepId, branch);
  const from = visit.visit;
  return walk(world, { execution, graph, stepId, from, progress, ...(eventsSince && { eventsSince }) });
}

/** Ends a run as the event ends a real execution: what it was doing is cancelled. */
export function leave(
  execution: StandingExecution,
  { visit, stepId, reason, progress }: { visit: number; stepId: string; reason: string; progress: Progress },
): Stop {
  const { id: executionId } = execution;
  if (execution.run) progress.runs.set(executionId, execution.run);
  progress.closed.push({ executionId, visit, status: 'CANCELLED' });
  progress.passedWaits.push({ executionId, visit });
  progress.positions.push({ executionId, visit: execution.visit, stepId, status: 'EXITED', reason });
  return { next: { kind: 'end', status: 'EXITED', reason } };
}

/** The step at which an execution stands was deleted: it ends there. */
export function exitDeleted(execution: StandingExecution, progress: Progress): Stop {
  const { id: executionId, visit } = execution;
  progress.positions.push({ executionId, visit, stepId: null, status: 'EXITED', reason: 'step_deleted' });
  return { next: { kind: 'end', status: 'EXITED', reason: 'step_deleted' } };
}

/**
 * From when on events count for a wait that comes next: an email's are recorded before its step ends. What was recorded
 * as it began, by the step before it, does not; `startedAt` has no part of a millisecond.
 */
function eventsSinceOf(world: World, execution: StandingExecution, visit: Visit): Date | undefined {
  const { sendsEmail } = STEPS[visit.type];
  const { run } = execution;
  if (!run) return sendsEmail ? new Date(visit.startedAt.getTime() + 1) : undefined;
  return sendsEmail && run.since !== null ? new Date(run.since) : world.now(execution);
}
