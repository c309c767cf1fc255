import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';

/** Tells whether this process may send at this moment. */
export interface SendingGate {
  isOpen(): boolean;
}

/** Each attempt of an activity makes the wait before its next attempt this much longer. */
const RETRY_STEP_MS = 5_000;
/**
 * The longest wait, so that all waiting activities run within this time after sending is allowed again. Even thousands
 * of waiting activities cause only some attempts a second in Temporal.
 */
const RETRY_MAX_MS = 60_000;

type Activities = Record<string, (...args: never[]) => Promise<unknown>>;

/**
 * Wraps activities that send, so that they wait while the installation may not send. An activity that runs during this
 * time fails at once, and Temporal retries it until the installation may send again. The activity has not claimed a
 * message yet, so the wait does not count as an attempt to send.
 */
export function holdWhileClosed<A extends Activities>(gate: SendingGate, activities: A): A {
  const guarded = Object.entries(activities).map(([name, run]) => [
    name,
    async (...args: never[]) => {
      if (!gate.isOpen()) throw createHoldFailure(Context.current().info.attempt);
      return run(...args);
    },
  ]);
  return Object.fromEntries(guarded) as A;
}

function createHoldFailure(attempt: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'SENDING_HELD',
    message: 'Nothing of this installation is sent at present.',
    nextRetryDelay: Math.min(RETRY_MAX_MS, attempt * RETRY_STEP_MS),
    // Temporal neither logs a benign failure nor counts it.
    category: ApplicationFailureCategory.BENIGN,
  });
}
