import type { SmtpJob, SmtpResult } from './types.ts';

/**
 * Passes a result to the submitter of the message. An error in its callback must not end the connection, which other
 * messages use.
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
 * Passes a result after the current work, because the callback may submit new messages, which must not interrupt a
 * write.
 */
export function passResultLater(job: SmtpJob, result: SmtpResult): void {
  queueMicrotask(() => job.onResult(result, job.message));
}
