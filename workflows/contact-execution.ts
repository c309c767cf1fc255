import {
  ActivityCancellationType,
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { EffectActivities, WebhookActivities } from '../activities/executions/steps.ts';
import type { ExecutionInput, Next, Resume, StepActivity, StepInput } from '../rules/executions/execution.ts';
import { activitiesOn } from './activities-on.ts';
import { ExecutionPath } from './execution-path.ts';
import { noteWait } from './search-attributes.ts';

/**
 * An effect may take as long as its slowest provider answers: a mail server has ten minutes for the message and some
 * for each command before it. A second attempt beside the first would double the mail; a killed worker is known by its
 * heartbeats. What fails for now is tried again for a day, which covers an outage of a mail provider; retries are safe
 * because each visit's effect has its own row in the database.
 */
const STEP_OPTIONS = {
  startToCloseTimeout: '20 minutes',
  // A killed worker's step is run by another this soon.
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 minutes' },
  // A step under way finishes, so that what it did is recorded; the execution ends right after it.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const;

const steps = activitiesOn<EffectActivities>('steps', {
  ...STEP_OPTIONS,
  // It saves Temporal the way over the queue, a fifth of what an execution costs it.
  allowEagerDispatch: true,
});
const webhooks = activitiesOn<WebhookActivities>('webhooks', {
  ...STEP_OPTIONS,
  allowEagerDispatch: false,
});

/**
 * The wait of a visit is over, or somebody has ended its pause; the database knows. May arrive twice, early, or late.
 */
export const eventSignal = defineSignal<[{ visit: number }]>('event');

/**
 * One contact's run through a tenant's workflow. It knows only where the execution stands: activities walk the graph in
 * the database and return what comes next, so that trigger → SEND_EMAIL → EXIT costs Temporal one activity and nothing
 * more. Ending an execution early cancels this workflow; the database has said why.
 */
export async function contactExecution(input: ExecutionInput): Promise<string> {
  const satisfied = new Set(input.satisfied ?? []);
  setHandler(eventSignal, ({ visit }) => {
    satisfied.add(visit);
  });
  const path = new ExecutionPath(input);
  let next = input.next;
  while (next.kind !== 'end') {
    path.arrive(next);
    next = await follow(input, next, satisfied);
    if (workflowInfo().continueAsNewSuggested && next.kind !== 'end') {
      await continueAsNew<typeof contactExecution>({ ...input, next, satisfied: [...satisfied], path: path.carried() });
    }
  }
  path.arrive(next);
  return next.reason ? `${next.status}: ${next.reason}` : next.status;
}

async function follow(
  input: ExecutionInput,
  next: Exclude<Next, { kind: 'end' }>,
  satisfied: Set<number>,
): Promise<Next> {
  const step = { projectId: input.projectId, executionId: input.executionId, visit: next.visit };
  switch (next.kind) {
    case 'effect':
      return run(next.activity, step, next.label);
    case 'delay':
      await awaitInstant(next, satisfied);
      return run(next.then, { ...step, resume: 'delay' }, next.thenLabel ?? next.label);
    case 'wait': {
      const resume = await awaitEvent(next, satisfied);
      return resume === 'event'
        ? run(next.onEvent, { ...step, resume }, next.eventLabel ?? next.label)
        : run(next.onTimeout, { ...step, resume }, next.timeoutLabel ?? next.label);
    }
  }
}

/** Until the timer is over, or somebody has moved the execution on. */
async function awaitInstant(next: Next & { kind: 'delay' }, satisfied: Set<number>): Promise<void> {
  const advanced = () => satisfied.has(next.visit);
  if (!advanced() && !next.skipped) {
    if (msUntil(next.dueAt) > 0) noteWait(next);
    const timer = new CancellationScope();
    const summary = `${next.label} until ${next.dueAt}`;
    try {
      await timer.run(() => Promise.race([sleep(msUntil(next.dueAt), { summary }), condition(advanced)]));
    } finally {
      timer.cancel();
    }
  }
  // Whoever was woken because a window has changed may have to wait for it again, at the same visit.
  satisfied.delete(next.visit);
}

async function awaitEvent(next: Next & { kind: 'wait' }, satisfied: Set<number>): Promise<Resume> {
  const arrived = () => satisfied.has(next.visit);
  if (next.skipped) return arrived() ? 'event' : 'timeout';
  if (!arrived()) noteWait(next);
  if (next.deadlineAt === null) {
    await condition(arrived);
    return 'event';
  }
  return (await condition(arrived, msUntil(next.deadlineAt), { summary: `${next.label} until ${next.deadlineAt}` }))
    ? 'event'
    : 'timeout';
}

/** One activity type a kind of effect, so that the Temporal UI names what an execution did. */
function run(activity: StepActivity, input: StepInput, summary: string): Promise<Next> {
  const step = activity === 'WEBHOOK' ? webhooks[activity] : steps[activity];
  return step.executeWithOptions({ summary }, [input]);
}

function msUntil(at: string): number {
  return Math.max(0, Date.parse(at) - Date.now());
}
