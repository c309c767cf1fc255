import { cancellationSignal, heartbeat } from '@temporalio/activity';

/**
 * Well under the 15 s after which Temporal considers a silent activity lost. Nearly all activities end sooner and send
 * none, so they cost the server nothing more.
 */
const EVERY_MS = 5_000;

/**
 * Runs a part of an activity and tells Temporal meanwhile that it lives, so that a killed worker's work is soon done by
 * another; the answers to it are how a cancellation gets here.
 * @param work is given what is aborted when the activity is cancelled or its worker stops
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
