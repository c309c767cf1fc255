import type { Visit } from '../../db/executions/visits.ts';
import type { StepInput } from '../../rules/executions/execution.ts';
import { notePauseEnded } from '../../rules/executions/laps.ts';
import type { Branch } from '../../rules/executions/steps/definition.ts';
import type { LockedExecution } from './locked-executions.ts';
import type { Progress } from './progress.ts';
import type { Stop } from './walk.ts';
import { endRun, walkOn } from './walk-on.ts';
import type { PauseEnd, World } from './world.ts';

/**
 * Ends the pause of a DELAY whose timer has fired, or of a WAIT_FOR_EVENT whose event or deadline has come, and walks
 * on. Writes nothing, like `walk`.
 */
export async function endPause(
  world: World,
  locked: LockedExecution,
  p: { visit: Visit; resume: StepInput['resume']; ended: PauseEnd; progress: Progress },
): Promise<Stop> {
  const { visit, progress } = p;
  const { execution, graph } = locked;
  const exit = world.findExit(execution, graph.steps.get(visit.stepId));
  if (exit) return endRun(execution, { visit: visit.visit, stepId: visit.stepId, reason: exit.reason, progress });
  const ended = world.getPauseEnd(execution, graph.steps.get(visit.stepId), p.ended);
  const at = { executionId: execution.id, visit: visit.visit };
  const eventId = p.resume === 'delay' ? undefined : ended.eventId;
  if (execution.laps) notePauseEnded(execution.laps, { byEvent: eventId !== undefined, tookMs: ended.tookMs });
  if (p.resume === 'delay') {
    progress.closed.push({ ...at, status: 'COMPLETED' });
    return walkOn(world, locked, { visit, progress });
  }
  const branch: Branch = eventId ? 'event' : 'timeout';
  progress.closed.push({ ...at, status: 'COMPLETED', output: eventId ? { branch, eventId } : { branch } });
  progress.passedWaits.push(at);
  return walkOn(world, locked, { visit, branch, progress });
}

/**
 * Ends the current pause of an execution, whatever it waits for. A WAIT_FOR_EVENT takes the given branch, else
 * `timeout`. Writes nothing, like `walk`. The caller has checked that the execution is at a pause.
 */
export async function advance(
  world: World,
  locked: LockedExecution,
  { branch = 'timeout', progress }: { branch?: Branch | undefined; progress: Progress },
): Promise<Stop> {
  const { execution, graph, current, standingMs } = locked;
  if (!current) throw new Error('an execution that waits has a visit');
  const at = { executionId: execution.id, visit: current.visit };
  const ended = world.getPauseEnd(execution, graph.steps.get(current.stepId), {
    eventId: undefined,
    tookMs: standingMs,
  });
  // The pause counts with the time that it really took.
  if (execution.laps) notePauseEnded(execution.laps, { byEvent: true, tookMs: ended.tookMs });
  const waited = current.type === 'WAIT_FOR_EVENT';
  progress.closed.push({ ...at, status: 'COMPLETED', output: { advanced: true, ...(waited && { branch }) } });
  if (waited) progress.passedWaits.push(at);
  return walkOn(world, locked, { visit: current, progress, ...(waited && { branch }) });
}
