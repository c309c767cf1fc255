import type { SmtpJob, SmtpResult } from './types.ts';

/**
 * Passes a result to the submitter of the message. An error of its callback must not end the connection of other
 * messages.
 */
export function answer(job: SmtpJob, result: SmtpResult): void {
  try {
    job.onResult(result, job.message);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/**
 * The same after the work at hand: the callback may bring new messages, which must not come in the middle of a write.
 */
export function answerLater(job: SmtpJob, result: SmtpResult): void {
  queueMicrotask(() => job.onResult(result, job.message));
}
