import type { Visit } from '../../db/executions/visits.ts';
import type { StepInput } from '../../rules/executions/execution.ts';
import { notePauseEnded } from '../../rules/executions/loop-guard.ts';
import type { Branch } from '../../rules/executions/steps/definition.ts';
import { continueWalk, endSandboxRun } from './continue-walk.ts';
import type { ExecutionEnvironment, PauseEnd } from './environment.ts';
import type { LockedExecution } from './locked-executions.ts';
import type { PendingWrites } from './pending-writes.ts';
import type { WalkStop } from './walk.ts';

/**
 * Ends the pause of a DELAY whose timer has fired, or of a WAIT_FOR_EVENT whose event has arrived or whose deadline has
 * passed, and advances the execution. Like `walk`, it only collects the changes in `pending`, and the caller saves
 * them.
 */
export async function endPause(
  environment: ExecutionEnvironment,
  locked: LockedExecution,
  p: { visit: Visit; resume: StepInput['resume']; ended: PauseEnd; pending: PendingWrites },
): Promise<WalkStop> {
  const { visit, pending } = p;
  const { execution, graph } = locked;
  const exit = environment.findExit(execution, graph.steps.get(visit.stepId));
  if (exit) return endSandboxRun(execution, { visit: visit.visit, stepId: visit.stepId, reason: exit.reason, pending });
  const ended = environment.getPauseEnd(execution, graph.steps.get(visit.stepId), p.ended);
  const at = { executionId: execution.id, visit: visit.visit };
  const eventId = p.resume === 'delay' ? undefined : ended.eventId;
  if (execution.laps) notePauseEnded(execution.laps, { byEvent: eventId !== undefined, tookMs: ended.tookMs });
  if (p.resume === 'delay') {
    pending.closed.push({ ...at, status: 'COMPLETED' });
    return continueWalk(environment, locked, { visit, pending });
  }
  const branch: Branch = eventId ? 'event' : 'timeout';
  pending.closed.push({ ...at, status: 'COMPLETED', output: eventId ? { branch, eventId } : { branch } });
  pending.passedWaits.push(at);
  return continueWalk(environment, locked, { visit, branch, pending });
}

/**
 * Ends the current pause of an execution, whatever it waits for. A WAIT_FOR_EVENT takes the given branch, else
 * `timeout`. Writes nothing, like `walk`. The caller has checked that the execution is at a pause.
 */
export async function advance(
  environment: ExecutionEnvironment,
  locked: LockedExecution,
  { branch = 'timeout', pending }: { branch?: Branch | undefined; pending: PendingWrites },
): Promise<WalkStop> {
  const { execution, graph, current, standingMs } = locked;
  if (!current) throw new Error('an execution that waits has a visit');
  const at = { executionId: execution.id, visit: current.visit };
  const ended = environment.getPauseEnd(execution, graph.steps.get(current.stepId), {
    eventId: undefined,
    tookMs: standingMs,
  });
  // For the loop guard, the pause counts with its actual length.
  if (execution.laps) notePauseEnded(execution.laps, { byEvent: true, tookMs: ended.tookMs });
  const waited = current.type === 'WAIT_FOR_EVENT';
  pending.closed.push({ ...at, status: 'COMPLETED', output: { advanced: true, ...(waited && { branch }) } });
  if (waited) pending.passedWaits.push(at);
  return continueWalk(environment, locked, { visit: current, pending, ...(waited && { branch }) });
}
