import {
  ActivityCancellationType,
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import type { EffectActivities, WebhookActivities } from '../activities/executions/steps.ts';
import type { ExecutionInput, Next, Resume, StepActivity, StepInput } from '../rules/executions/execution.ts';
import { activitiesOn } from './activities-on.ts';
import { findCancelReason } from './cancel-reason.ts';
import { endAs, type RecordEnd, shouldEndAsRecord, toWorkflowFailure } from './ends.ts';
import { ExecutionPath } from './execution-path.ts';
import { RunLength } from './run-length.ts';
import { SatisfiedVisits } from './satisfied-visits.ts';
import { setWaitAttributes } from './search-attributes.ts';

/**
 * The timeouts and retries of effects. An effect may take as long as the slowest provider: a mail server may take ten
 * minutes for the message, and some minutes for each command before it. If Temporal started a second attempt while a
 * slow attempt is still running, the email could be sent twice. Temporal notices a killed worker by its missing
 * heartbeats. Temporal retries without limit, so that the execution survives an outage of Postgres. The activities
 * decide when to give up: SEND_EMAIL a day after the email was created, without the time outside the sending window,
 * WEBHOOK after five attempts. Retries are safe, because the effect of each visit has a row in the database.
 */
const STEP_OPTIONS = {
  startToCloseTimeout: '20 minutes',
  // If a worker is killed, another worker runs its step after this time.
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 minutes' },
  // When the execution is cancelled, a running step still finishes, so that its effect is recorded. The execution ends
  // right after the step.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const;

const steps = activitiesOn<EffectActivities>('steps', {
  ...STEP_OPTIONS,
  // Starts the activity in the worker that schedules it, without a round trip through Temporal's queue. Such an eager
  // start saves 20 % of the cost of an execution.
  allowEagerDispatch: true,
});
const webhooks = activitiesOn<WebhookActivities>('webhooks', {
  ...STEP_OPTIONS,
  allowEagerDispatch: false,
});

/**
 * Signals that the pause of a visit may be over. The awaited event has arrived, a user has ended the pause, or the
 * awaited sending window now opens earlier. The database records an arrived event and an ended pause before the signal
 * is sent. The signal may arrive twice, early, or late.
 */
export const eventSignal = defineSignal<[{ visit: number }]>('event');
/**
 * Signals that the execution has ended in the database, but was not cancelled. The signal may arrive twice, or late.
 */
export const endedSignal = defineSignal<[RecordEnd]>('ended');
/**
 * Signals that the execution's position in the database may differ from the position in the workflow. The workflow then
 * reads the position from the database. The signal may arrive at any time.
 */
export const lookSignal = defineSignal('look');

/**
 * Runs an execution: one contact in a tenant's workflow. The Temporal workflow has little in its state: the current
 * position, the signals that it has received, and the visits that the Temporal UI shows. Its activities follow the
 * graph in the database and return the next effect or pause. The path trigger → SEND_EMAIL → EXIT therefore needs a
 * single activity. If the execution ends early in the database, this workflow ends in the same way.
 */
export async function contactExecution(input: ExecutionInput): Promise<string> {
  const length = new RunLength();
  const signals: ReceivedSignals = { satisfied: new SatisfiedVisits(input.satisfied), shouldCheck: false };
  const path = new ExecutionPath(input);
  let next = input.next;
  let ended: RecordEnd | undefined;
  let runningScope = new CancellationScope();
  setHandler(eventSignal, ({ visit }) => {
    signals.satisfied.add(visit);
    // Cancels the scope if there are too many signals. A step whose activity has not started yet then starts in the
    // next run of the workflow. A step that is running finishes first.
    length.countSignal(runningScope);
  });
  setHandler(lookSignal, () => {
    signals.shouldCheck = true;
    length.countSignal(runningScope);
  });
  setHandler(endedSignal, ({ status, reason }) => {
    // `shouldEndAsRecord()` is false in the replay of a history in which a worker of an earlier release ignored this
    // signal and continued.
    if (!shouldEndAsRecord()) return;
    ended = { status, reason };
    runningScope.cancel();
  });
  while (next.kind !== 'end' && !ended) {
    path.update(next);
    const position = next;
    runningScope = new CancellationScope();
    try {
      next = await runningScope.run(() => performNext(input, position, signals, length));
    } catch (error) {
      if (!ended && !length.isFromSignalLimit(error)) {
        if (isCancellation(error)) path.update({ kind: 'end', status: 'CANCELLED', reason: findCancelReason() });
        throw toWorkflowFailure(error);
      }
    }
    if (ended) break;
    if (next.kind === 'end') break;
    signals.satisfied.dropBefore(next.visit);
    if (length.shouldStartNewRun()) {
      const satisfied = signals.satisfied.toJSON();
      await continueAsNew<typeof contactExecution>({ ...input, next, satisfied, path: path.visitsToKeep() });
    }
  }
  const end = ended ?? (next.kind === 'end' && next);
  if (!end) throw new Error('an execution that continues has no end');
  path.update({ kind: 'end', ...end });
  return endAs(end, path.describeFailedStep());
}

/** The content of the signals that have arrived so far. */
interface ReceivedSignals {
  satisfied: SatisfiedVisits;
  /** Whether the workflow must read the position from the database, because its own position may be outdated. */
  shouldCheck: boolean;
}

/**
 * Performs `next`: runs the effect, or waits until the pause ends and then runs the activity that follows. Returns the
 * position after that, or `next` itself when the workflow should continue as new. The function is not async, because an
 * effect, the most frequent case, needs only the promise of its activity.
 */
function performNext(
  input: ExecutionInput,
  next: Exclude<Next, { kind: 'end' }>,
  signals: ReceivedSignals,
  length: RunLength,
): Promise<Next> {
  const { projectId, executionId } = input;
  const { visit, stepId } = next;
  const step: StepInput = { projectId, executionId, visit, ...(stepId !== undefined && { stepId }) };
  switch (next.kind) {
    case 'effect':
      return runActivity(next.activity, step, next.label);
    case 'delay':
      return advanceAfterDelay(step, next, signals, length);
    case 'wait':
      return advanceAfterWait(step, next, signals, length);
  }
}

async function advanceAfterDelay(
  step: StepInput,
  next: Next & { kind: 'delay' },
  signals: ReceivedSignals,
  length: RunLength,
): Promise<Next> {
  const resume = await awaitInstant(next, signals, length);
  if (resume === 'continue') return next;
  if (resume === 'look') return checkPosition({ ...step, dueAt: next.dueAt }, signals);
  return runActivity(next.then, { ...step, resume: 'delay' }, next.thenLabel ?? next.label);
}

async function advanceAfterWait(
  step: StepInput,
  next: Next & { kind: 'wait' },
  signals: ReceivedSignals,
  length: RunLength,
): Promise<Next> {
  const resume = await awaitEvent(next, signals, length);
  if (resume === 'continue') return next;
  if (resume === 'look')
    return checkPosition({ ...step, ...(next.deadlineAt !== null && { dueAt: next.deadlineAt }) }, signals);
  return resume === 'event'
    ? runActivity(next.onEvent, { ...step, resume }, next.eventLabel ?? next.label)
    : runActivity(next.onTimeout, { ...step, resume }, next.timeoutLabel ?? next.label);
}

/**
 * Reads the execution's position in the database during a pause, and clears the request for this check. The result of a
 * step does not clear the request, because this result may be from before Postgres or Temporal was restored.
 */
function checkPosition(step: StepInput, signals: ReceivedSignals): Promise<Next> {
  signals.shouldCheck = false;
  return runActivity('ADVANCE', step, 'check the current step');
}

/**
 * Waits until one of these happens: the delay is over, a user ends the pause, a check is requested, or the workflow
 * should continue as new.
 */
async function awaitInstant(
  next: Next & { kind: 'delay' },
  signals: ReceivedSignals,
  length: RunLength,
): Promise<'delay' | 'look' | 'continue'> {
  const { satisfied } = signals;
  const isAdvanced = () => satisfied.has(next.visit) || signals.shouldCheck;
  let isOver = next.skipped === true;
  if (!isAdvanced() && !isOver) {
    if (msUntil(next.dueAt) > 0) setWaitAttributes(next);
    const timer = new CancellationScope();
    const summary = `${next.label} until ${next.dueAt}`;
    const sleepUntilDue = async () => {
      await sleep(msUntil(next.dueAt), { summary });
      isOver = true;
    };
    try {
      await timer.run(() =>
        Promise.race([sleepUntilDue(), condition(() => isAdvanced() || length.shouldStartNewRunWhileWaiting())]),
      );
    } finally {
      timer.cancel();
    }
  }
  if (!isOver && !isAdvanced()) return 'continue';
  // Removes the visit from the set, because a change of the sending window may have woken the execution. The activity
  // then checks the window, and the execution may have to wait for the window again, at the same visit.
  return satisfied.delete(next.visit) || !signals.shouldCheck ? 'delay' : 'look';
}

async function awaitEvent(
  next: Next & { kind: 'wait' },
  signals: ReceivedSignals,
  length: RunLength,
): Promise<Resume | 'look' | 'continue'> {
  const hasArrived = () => signals.satisfied.has(next.visit);
  if (next.skipped) return hasArrived() ? 'event' : 'timeout';
  const isAwake = () => hasArrived() || signals.shouldCheck || length.shouldStartNewRunWhileWaiting();
  if (!isAwake()) setWaitAttributes(next);
  const summary = `${next.label} until ${next.deadlineAt}`;
  if (next.deadlineAt === null) await condition(isAwake);
  else if (!(await condition(isAwake, msUntil(next.deadlineAt), { summary }))) return 'timeout';
  if (hasArrived()) return 'event';
  return signals.shouldCheck ? 'look' : 'continue';
}

/**
 * Runs the activity of an effect, or ADVANCE. Each kind of effect has a separate activity type, so that the Temporal UI
 * shows the steps of an execution.
 */
function runActivity(activity: StepActivity, input: StepInput, summary: string): Promise<Next> {
  const step = activity === 'WEBHOOK' ? webhooks[activity] : steps[activity];
  return step.executeWithOptions({ summary }, [input]);
}

function msUntil(at: string): number {
  return Math.max(0, Date.parse(at) - Date.now());
}
