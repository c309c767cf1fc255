import { heartbeat } from '@temporalio/activity';

/**
 * Well under the 15 s after which Temporal takes a silent activity for lost. What ends sooner, nearly all, sends none, so that a quick
 * effect costs the server no more for it.
 */
const EVERY_MS = 5_000;

/** Runs a part of an activity and tells Temporal meanwhile that it lives, so that a killed worker's work is soon done by another. */
export async function withHeartbeats<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => heartbeat(), EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
