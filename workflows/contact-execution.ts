import {
  ActivityCancellationType,
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import type { EffectActivities, WebhookActivities } from '../activities/executions/steps.ts';
import type { ExecutionInput, Next, Resume, StepActivity, StepInput } from '../rules/executions/execution.ts';
import { activitiesOn } from './activities-on.ts';
import { endAs, endsAsRecord, type RecordEnd, withCode } from './ends.ts';
import { ExecutionPath } from './execution-path.ts';
import { RunLength } from './run-length.ts';
import { SatisfiedVisits } from './satisfied-visits.ts';
import { noteWait } from './search-attributes.ts';

/**
 * An effect may take as long as its slowest provider: a mail server has ten minutes for the message and some for each
 * command before it. A second attempt beside the first would double the email; heartbeats reveal a killed worker.
 * Temporary failures are retried for a day, which covers an outage of a provider. Retries are safe, because each
 * visit's effect has its own row in the database.
 */
const STEP_OPTIONS = {
  startToCloseTimeout: '20 minutes',
  // Another worker runs a killed worker's step after this time.
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 minutes' },
  // A running step finishes, so that its effect is recorded; the execution ends right after it.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const;

const steps = activitiesOn<EffectActivities>('steps', {
  ...STEP_OPTIONS,
  // Saves Temporal the round trip through the queue, 20 % of the cost of an execution.
  allowEagerDispatch: true,
});
const webhooks = activitiesOn<WebhookActivities>('webhooks', {
  ...STEP_OPTIONS,
  allowEagerDispatch: false,
});

/**
 * The wait of a visit is over, or a person has ended its pause; the database knows. May arrive twice, early, or late.
 */
export const eventSignal = defineSignal<[{ visit: number }]>('event');
/** The execution has ended in the database, other than by a cancel. May arrive twice, or late. */
export const endedSignal = defineSignal<[RecordEnd]>('ended');
/**
 * The execution may have another position in the database, so the workflow checks. This signal may arrive at any time.
 */
export const lookSignal = defineSignal('look');

/**
 * Runs one contact through a tenant's workflow. It knows only the current position: activities walk the graph in the
 * database and return the next thing to do, so trigger → SEND_EMAIL → EXIT costs Temporal a single activity. An
 * execution that ends early in the database ends this workflow in the same way.
 */
export async function contactExecution(input: ExecutionInput): Promise<string> {
  const length = new RunLength();
  const heard: Heard = { satisfied: new SatisfiedVisits(input.satisfied), looks: false };
  const path = new ExecutionPath(input);
  let next = input.next;
  let ended: RecordEnd | undefined;
  let underWay = new CancellationScope();
  setHandler(eventSignal, ({ visit }) => {
    heard.satisfied.add(visit);
    // A step that has not started is cancelled and starts in the next run; one that has started finishes first.
    length.countSignal(underWay);
  });
  setHandler(lookSignal, () => {
    heard.looks = true;
    length.countSignal(underWay);
  });
  setHandler(endedSignal, ({ status, reason }) => {
    // A worker of an earlier version has ignored the signal and continued.
    if (!endsAsRecord()) return;
    ended = { status, reason };
    underWay.cancel();
  });
  while (next.kind !== 'end' && !ended) {
    path.arrive(next);
    const standing = next;
    underWay = new CancellationScope();
    try {
      next = await underWay.run(() => follow(input, standing, heard, length));
    } catch (error) {
      if (!ended && !length.hasCutShort(error)) throw withCode(error);
    }
    if (ended) break;
    if (next.kind === 'end') break;
    heard.satisfied.forgetBefore(next.visit);
    if (length.shouldContinue()) {
      const satisfied = heard.satisfied.toJSON();
      await continueAsNew<typeof contactExecution>({ ...input, next, satisfied, path: path.carried() });
    }
  }
  const end = ended ?? (next.kind === 'end' && next);
  if (!end) throw new Error('an execution that continues has no end');
  path.arrive({ kind: 'end', ...end });
  return endAs(end);
}

/** The news that signals have brought. */
interface Heard {
  satisfied: SatisfiedVisits;
  /** The execution may be elsewhere. */
  looks: boolean;
}

/**
 * Follows the execution to its next pause, effect or end. Returns `next` itself when the run should continue in a new
 * one. Not async: an effect, the most frequent case, needs no promise beside its activity's.
 */
function follow(
  input: ExecutionInput,
  next: Exclude<Next, { kind: 'end' }>,
  heard: Heard,
  length: RunLength,
): Promise<Next> {
  const { projectId, executionId } = input;
  const { visit, stepId } = next;
  const step: StepInput = { projectId, executionId, visit, ...(stepId !== undefined && { stepId }) };
  switch (next.kind) {
    case 'effect':
      return run(next.activity, step, next.label);
    case 'delay':
      return followDelay(step, next, heard, length);
    case 'wait':
      return followWait(step, next, heard, length);
  }
}

async function followDelay(
  step: StepInput,
  next: Next & { kind: 'delay' },
  heard: Heard,
  length: RunLength,
): Promise<Next> {
  const resume = await awaitInstant(next, heard, length);
  if (resume === 'continue') return next;
  if (resume === 'look') return look({ ...step, dueAt: next.dueAt }, heard);
  return run(next.then, { ...step, resume: 'delay' }, next.thenLabel ?? next.label);
}

async function followWait(
  step: StepInput,
  next: Next & { kind: 'wait' },
  heard: Heard,
  length: RunLength,
): Promise<Next> {
  const resume = await awaitEvent(next, heard, length);
  if (resume === 'continue') return next;
  if (resume === 'look') return look({ ...step, ...(next.deadlineAt !== null && { dueAt: next.deadlineAt }) }, heard);
  return resume === 'event'
    ? run(next.onEvent, { ...step, resume }, next.eventLabel ?? next.label)
    : run(next.onTimeout, { ...step, resume }, next.timeoutLabel ?? next.label);
}

/**
 * Asks for the position of the execution in the middle of a pause. Only this responds to the signal: a step that ended
 * just now may have ended before a store was restored.
 */
function look(step: StepInput, heard: Heard): Promise<Next> {
  heard.looks = false;
  return run('ADVANCE', step, 'check the current step');
}

/** Waits until the timer fires, or until a person moves the execution on. */
async function awaitInstant(
  next: Next & { kind: 'delay' },
  heard: Heard,
  length: RunLength,
): Promise<'delay' | 'look' | 'continue'> {
  const { satisfied } = heard;
  const advanced = () => satisfied.has(next.visit) || heard.looks;
  let over = next.skipped === true;
  if (!advanced() && !over) {
    if (msUntil(next.dueAt) > 0) noteWait(next);
    const timer = new CancellationScope();
    const summary = `${next.label} until ${next.dueAt}`;
    const pass = async () => {
      await sleep(msUntil(next.dueAt), { summary });
      over = true;
    };
    try {
      await timer.run(() => Promise.race([pass(), condition(() => advanced() || length.shouldStopWaiting())]));
    } finally {
      timer.cancel();
    }
  }
  if (!over && !advanced()) return 'continue';
  // An execution that was woken by a changed window may have to wait for it again, at the same visit.
  return satisfied.delete(next.visit) || !heard.looks ? 'delay' : 'look';
}

async function awaitEvent(
  next: Next & { kind: 'wait' },
  heard: Heard,
  length: RunLength,
): Promise<Resume | 'look' | 'continue'> {
  const arrived = () => heard.satisfied.has(next.visit);
  if (next.skipped) return arrived() ? 'event' : 'timeout';
  const awake = () => arrived() || heard.looks || length.shouldStopWaiting();
  if (!awake()) noteWait(next);
  const summary = `${next.label} until ${next.deadlineAt}`;
  if (next.deadlineAt === null) await condition(awake);
  else if (!(await condition(awake, msUntil(next.deadlineAt), { summary }))) return 'timeout';
  if (arrived()) return 'event';
  return heard.looks ? 'look' : 'continue';
}

/** Each kind of effect is an activity type, so the Temporal UI names what an execution did. */
function run(activity: StepActivity, input: StepInput, summary: string): Promise<Next> {
  const step = activity === 'WEBHOOK' ? webhooks[activity] : steps[activity];
  return step.executeWithOptions({ summary }, [input]);
}

function msUntil(at: string): number {
  return Math.max(0, Date.parse(at) - Date.now());
}
