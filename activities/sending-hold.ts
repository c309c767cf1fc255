import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';

/** Tells whether this process may send at this moment. */
export interface SendingGate {
  isOpen(): boolean;
}

/** Each attempt at a held activity waits this much longer for the next attempt. */
const RETRY_STEP_MS = 5_000;
/** Held activities run this soon after the hold ends. Thousands of them cost Temporal some attempts a second. */
const RETRY_MAX_MS = 60_000;

type Activities = Record<string, (...args: never[]) => Promise<unknown>>;

/**
 * Makes activities that send wait while the installation may not send. Temporal retries them, however long the hold
 * lasts. They have not claimed a message yet, so the wait does not count as an attempt at one.
 */
export function holdWhileClosed<A extends Activities>(gate: SendingGate, activities: A): A {
  const held = Object.entries(activities).map(([name, run]) => [
    name,
    async (...args: never[]) => {
      if (!gate.isOpen()) throw heldFailure(Context.current().info.attempt);
      return run(...args);
    },
  ]);
  return Object.fromEntries(held) as A;
}

function heldFailure(attempt: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'SENDING_HELD',
    message: 'Nothing of this installation is sent at present.',
    nextRetryDelay: Math.min(RETRY_MAX_MS, attempt * RETRY_STEP_MS),
    // A wait is not a failure: it is neither logged nor counted as one.
    category: ApplicationFailureCategory.BENIGN,
  });
}
