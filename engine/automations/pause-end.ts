import type { Visit } from '../../db/executions/visits.ts';
import type { StepInput } from '../../rules/executions/execution.ts';
import { recordPauseEnd } from '../../rules/executions/loop-guard.ts';
import type { Branch } from '../../rules/executions/steps/definition.ts';
import { continueWalk, endSandboxRun } from './continue-walk.ts';
import type { ExecutionEnvironment, PauseEnd } from './environment.ts';
import type { LockedExecution } from './locked-executions.ts';
import type { PendingWrites } from './pending-writes.ts';
import type { WalkStop } from './walk.ts';

/**
 * Ends a pause and advances the execution. A DELAY ends when its timer has fired. A WAIT_FOR_EVENT ends when its event
 * has arrived or its deadline has passed. Like `walk`, this function collects changes in `pending`, which the caller
 * saves.
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
  // Handling the end may be late, for example after an outage. Events in the meantime count for a wait that follows.
  const endedAt = (eventId ? ended.eventAt : visit.dueAt) ?? undefined;
  if (execution.laps) recordPauseEnd(execution.laps, { byEvent: eventId !== undefined, tookMs: ended.tookMs });
  if (p.resume === 'delay') {
    pending.closed.push({ ...at, status: 'COMPLETED' });
    return continueWalk(environment, locked, { visit, endedAt, pending });
  }
  const branch: Branch = eventId ? 'event' : 'timeout';
  pending.closed.push({ ...at, status: 'COMPLETED', output: eventId ? { branch, eventId } : { branch } });
  pending.passedWaits.push(at);
  return continueWalk(environment, locked, { visit, endedAt, branch, pending });
}

/**
 * Ends the current pause of an execution before its event or deadline. A WAIT_FOR_EVENT continues on `branch`. Like
 * `walk`, it collects changes in `pending`. The caller has checked that the execution is at a pause.
 */
export async function endPauseEarly(
  environment: ExecutionEnvironment,
  locked: LockedExecution,
  { branch = 'timeout', pending }: { branch?: Branch | undefined; pending: PendingWrites },
): Promise<WalkStop> {
  const { execution, graph, current, visitAgeMs } = locked;
  if (!current) throw new Error('an execution that waits has a visit');
  const at = { executionId: execution.id, visit: current.visit };
  const ended = environment.getPauseEnd(execution, graph.steps.get(current.stepId), {
    eventId: undefined,
    tookMs: visitAgeMs,
  });
  // The loop guard counts the actual length of the pause, not the planned one.
  if (execution.laps) recordPauseEnd(execution.laps, { byEvent: true, tookMs: ended.tookMs });
  const isEventWait = current.type === 'WAIT_FOR_EVENT';
  pending.closed.push({ ...at, status: 'COMPLETED', output: { advanced: true, ...(isEventWait && { branch }) } });
  if (isEventWait) pending.passedWaits.push(at);
  return continueWalk(environment, locked, { visit: current, pending, ...(isEventWait && { branch }) });
}
