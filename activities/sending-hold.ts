import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';

/** Tells whether this process may send at this moment. */
export interface SendingGate {
  isOpen(): boolean;
}

/** The wait before the next attempt grows by this time with each attempt. */
const RETRY_STEP_MS = 5_000;
/**
 * The longest wait, so held activities run within this time after the hold ends. Even thousands of them are only some
 * attempts a second for Temporal.
 */
const RETRY_MAX_MS = 60_000;

type Activities = Record<string, (...args: never[]) => Promise<unknown>>;

/**
 * Makes activities that send wait while the installation may not send. Temporal retries them, however long the hold
 * lasts. They have not claimed a message yet, so the wait does not count as an attempt to send.
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
    // A wait is neither logged nor counted as a failure.
    category: ApplicationFailureCategory.BENIGN,
  });
}
