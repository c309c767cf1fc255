import type { SmtpJob, SmtpResult } from './types.ts';

/**
 * Calls `onResult` of a message with its result. If the callback throws, its error is thrown again in a microtask,
 * where it cannot end the connection that other messages use.
 */
export function passResult(job: SmtpJob, result: SmtpResult): void {
  try {
    job.onResult(result, job.message);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/**
 * Calls `onResult` of a message after the current function has returned. The callback may submit new messages, and a
 * new message must not interrupt the current write.
 */
export function passResultLater(job: SmtpJob, result: SmtpResult): void {
  queueMicrotask(() => job.onResult(result, job.message));
}
