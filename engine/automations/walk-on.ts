import type { Visit } from '../../db/executions/visits.ts';
import { follow } from '../../db/workflows/graph.ts';
import type { Branch } from '../../rules/executions/steps/definition.ts';
import { STEPS } from '../../rules/executions/steps/registry.ts';
import type { CurrentExecution, LockedExecution } from './locked-executions.ts';
import type { Progress } from './progress.ts';
import { type Stop, walk } from './walk.ts';
import type { World } from './world.ts';

/** Goes on after a finished step. When the step was deleted in the meantime, the execution ends there. */
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

/** Ends a sandbox run as the event would end a real execution: its current step is cancelled. */
export function endRun(
  execution: CurrentExecution,
  { visit, stepId, reason, progress }: { visit: number; stepId: string; reason: string; progress: Progress },
): Stop {
  const { id: executionId } = execution;
  if (execution.run) progress.runs.set(executionId, execution.run);
  progress.closed.push({ executionId, visit, status: 'CANCELLED' });
  progress.passedWaits.push({ executionId, visit });
  progress.positions.push({ executionId, visit: execution.visit, stepId, status: 'EXITED', reason });
  return { next: { kind: 'end', status: 'EXITED', reason } };
}

/** Ends an execution whose current step was deleted. */
export function exitDeleted(execution: CurrentExecution, progress: Progress): Stop {
  const { id: executionId, visit } = execution;
  progress.positions.push({ executionId, visit, stepId: null, status: 'EXITED', reason: 'step_deleted' });
  return { next: { kind: 'end', status: 'EXITED', reason: 'step_deleted' } };
}

/**
 * The instant from which events count for a wait that comes next. Events of an email are recorded before its step ends,
 * so they count; the event that the previous step recorded at the start does not. `startedAt` has no fraction of a
 * millisecond.
 */
function eventsSinceOf(world: World, execution: CurrentExecution, visit: Visit): Date | undefined {
  const { sendsEmail } = STEPS[visit.type];
  const { run } = execution;
  if (!run) return sendsEmail ? new Date(visit.startedAt.getTime() + 1) : undefined;
  return sendsEmail && run.since !== null ? new Date(run.since) : world.now(execution);
}
