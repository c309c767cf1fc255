import { type RecordedOutcome, toRefusalReason } from '../emails/attempt-outcome.ts';
import { uuidv7 } from '../uuid.ts';

/**
 * Matches reasons for not sending that are not errors. The step then counts as skipped, not as failed (contract §9.6
 * Reasons).
 */
const SKIPPED = /^(unsubscribed|unconfirmed$|suppressed:|frequency_capped$)/;

/**
 * Returns how a visit of a SEND_EMAIL step ends, from the outcome of its email. Only test runs of a workflow (see
 * `SandboxState`) use `changes`.
 */
export function toEmailStepOutcome(outcome: RecordedOutcome, emailId: string) {
  switch (outcome.kind) {
    case 'failed':
      return {
        status: SKIPPED.test(outcome.reason) ? ('SKIPPED' as const) : ('FAILED' as const),
        output: { emailId, reason: outcome.reason },
        error: outcome.error,
      };
    case 'accepted':
      return {
        status: 'COMPLETED' as const,
        output: { emailId },
        changes: { events: [{ id: uuidv7(), name: 'email.sent', data: { emailId, subject: outcome.subject } }] },
      };
    case 'bounced':
      return {
        status: 'FAILED' as const,
        output: { emailId, reason: toRefusalReason(outcome.refusal) },
        error: outcome.error,
      };
    case 'held':
      return { status: 'COMPLETED' as const, output: { emailId, held: true } };
    default:
      return { status: 'COMPLETED' as const, output: { emailId } };
  }
}
