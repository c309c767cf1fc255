import type { Visit } from '../../db/executions/visits.ts';
import type { StepInput } from '../../rules/executions/execution.ts';
import { hasSideEffect } from '../../rules/executions/steps/registry.ts';
import { continueWalk, endAtDeletedStep } from './continue-walk.ts';
import type { ExecutionEnvironment } from './environment.ts';
import type { LockedExecution } from './locked-executions.ts';
import { withPauseEnd } from './next.ts';
import type { PendingWrites } from './pending-writes.ts';
import { type WalkStop, walk } from './walk.ts';

/** The position of an execution according to its Temporal workflow, whose activities report the position. */
export type WorkflowPosition = Pick<StepInput, 'visit' | 'resume' | 'dueAt'> & { stepId: string };

/**
 * Advances an execution to the position of its Temporal workflow. The workflow is ahead of the row when Postgres was
 * restored from a backup. The effects between the two positions are not repeated. Like `walk`, this function collects
 * changes in `pending`. One change is written at once: if the row's current step has an email without a result, the
 * email is recorded as sent.
 */
export async function advanceToWorkflow(
  environment: ExecutionEnvironment,
  locked: LockedExecution,
  { at, pending }: { at: WorkflowPosition; pending: PendingWrites },
): Promise<WalkStop> {
  const { execution, graph, current } = locked;
  const { id: executionId } = execution;
  if (current?.status === 'RUNNING' || current?.status === 'WAITING') {
    pending.closed.push({ executionId, visit: current.visit, status: 'COMPLETED', output: RESTORED });
    pending.passedWaits.push({ executionId, visit: current.visit });
    await environment.noteSent(execution, current.visit);
  }
  const step = graph.steps.get(at.stepId);
  if (!step) return endAtDeletedStep(execution, pending);
  if (at.resume === undefined || hasSideEffect(step.type)) {
    execution.visit = at.visit - 1;
    const stop = await walk(environment, { execution, graph, stepId: step.id, pending });
    keepPauseEnd(pending, stop, at);
    return stop;
  }
  execution.visit = at.visit;
  const passed = { executionId, visit: at.visit, stepId: step.id, type: step.type, status: 'COMPLETED' as const };
  pending.visits.push({ ...passed, output: RESTORED });
  const visit: Visit = { ...passed, startedAt: environment.now(execution), dueAt: null };
  const isEventWait = step.type === 'WAIT_FOR_EVENT';
  return continueWalk(environment, locked, {
    visit,
    pending,
    ...(isEventWait && { branch: at.resume === 'event' ? 'event' : 'timeout' }),
  });
}

const RESTORED = { restored: true };

/**
 * Keeps the end of the pause that the Temporal workflow reports. Without this, the pause would start again with its
 * full length.
 */
function keepPauseEnd({ pauses, waits }: PendingWrites, stop: WalkStop, { visit, dueAt }: WorkflowPosition): void {
  const pause = pauses.find((one) => one.stop === stop && one.visit.visit === visit);
  if (!pause || !dueAt) return;
  const end = new Date(dueAt);
  pause.visit.dueAt = end;
  pause.hasTimer = false;
  stop.next = withPauseEnd(stop.next, end);
  for (const wait of waits) if (wait === pause.wait) wait.deadlineAt = end;
}
