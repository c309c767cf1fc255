import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';

/** Whether this process may send at this moment. */
export interface SendingGate {
  isOpen(): boolean;
}

/** Each try of a held activity waits this much longer for the next one. */
const RETRY_STEP_MS = 5_000;
/** Activities that were held go on this soon after the hold ends. Thousands of them cost Temporal some tries a second. */
const RETRY_MAX_MS = 60_000;

type Activities = Record<string, (...args: never[]) => Promise<unknown>>;

/**
 * Makes activities that reach somebody outside wait while nothing of the installation may be sent: Temporal tries them
 * again, however long the hold lasts. Nothing of theirs has begun, so that the wait counts as no attempt at the message.
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
    // Waiting is no failure: it is neither logged nor counted as one.
    category: ApplicationFailureCategory.BENIGN,
  });
}
