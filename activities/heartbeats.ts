import { cancellationSignal, heartbeat } from '@temporalio/activity';

/**
 * The interval between two heartbeats. It is well under 15 s, the time after which Temporal considers an activity
 * without heartbeats lost. Nearly all activities end before the first heartbeat, so heartbeats cause no extra load for
 * Temporal.
 */
const EVERY_MS = 5_000;

/**
 * Runs a part of an activity, and sends heartbeats to Temporal while it runs. If this worker is killed, Temporal
 * notices the missing heartbeats and soon starts the activity on another worker. Temporal reports a cancellation in its
 * response to a heartbeat.
 * @param work receives a signal that is aborted when the activity is cancelled or its worker stops
 */
export async function withHeartbeats<T>(
  work: (cancelled: AbortSignal) => Promise<T>,
  everyMs: number = EVERY_MS,
): Promise<T> {
  const timer = setInterval(() => heartbeat(), everyMs);
  try {
    return await work(cancellationSignal());
  } finally {
    clearInterval(timer);
  }
}
