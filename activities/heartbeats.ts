import { cancellationSignal, heartbeat } from '@temporalio/activity';

/**
 * Well under the 15 s after which Temporal considers a silent activity lost. Nearly all activities end sooner and send
 * none, so they cost the server nothing more.
 */
const EVERY_MS = 5_000;

/**
 * Runs a part of an activity and sends heartbeats to Temporal meanwhile, so that another worker soon does the work of
 * a killed one. A cancellation arrives in the response to a heartbeat.
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
