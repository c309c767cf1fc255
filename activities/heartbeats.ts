import { cancellationSignal, heartbeat } from '@temporalio/activity';

/**
 * Well under the 15 s after which Temporal considers an activity without heartbeats lost. Nearly all activities end
 * sooner and send no heartbeat, so they are no extra load for the server.
 */
const EVERY_MS = 5_000;

/**
 * Runs a part of an activity and sends heartbeats to Temporal meanwhile. If this worker is killed, another worker soon
 * takes over. A cancellation arrives in the response to a heartbeat.
 * @param work gets a signal that is aborted when the activity is cancelled or its worker stops
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
