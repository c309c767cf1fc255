import { ApplicationFailure } from '@temporalio/common';
import { claimEmails } from '../db/email-ledger.ts';
import { completeEffect, type EffectStanding } from '../db/execution-resume.ts';
import { noteAttempt } from '../db/execution-visits.ts';
import type { StepEmail } from '../db/step-emails.ts';
import { inTransaction } from '../db/transaction.ts';
import type { EmailOutcome } from '../domain/email-outcome.ts';
import type { Next } from '../domain/execution.ts';
import { deriveKey } from '../domain/secrets.ts';
import { keyPads } from '../domain/suppression.ts';
import type { ActivityDeps } from './deps.ts';

/** Reasons for which a contact gets nothing though nothing is wrong: the step counts as skipped (decisions §11). */
const SKIPPED = /^(unsubscribed|suppressed:)/;

/**
 * Runs a SEND_EMAIL step that an execution stands at. The mail is a row, unique by execution and visit, before it is sent, so a run after
 * a crash sends that row and no second one. Status, event and the execution's next step are one transaction.
 * @throws ApplicationFailure MAIL_DEFERRED with the delay that Temporal keeps to, when the provider refused for now
 */
export async function runSendEmailStep(deps: ActivityDeps, standing: EffectStanding, mail: StepEmail): Promise<Next> {
  const { execution, next } = standing;
  const at = { projectId: execution.projectId, executionId: execution.id, visit: next.visit };
  if (mail.outcome === 'unsendable') {
    return inTransaction(deps.db, (trx) =>
      completeEffect(trx, { ...at, status: 'FAILED', error: mail.error, fails: true }),
    );
  }
  const [claimed] = await claimEmails(deps.db, {
    projectId: execution.projectId,
    ids: [mail.emailId],
    deliveryId: execution.id,
    suppressionPads: keyPads(deriveKey(deps.config.secretKey, 'suppression')),
  });
  // Settled by an earlier attempt that could not close the visit any more.
  if (!claimed)
    return inTransaction(deps.db, (trx) =>
      completeEffect(trx, { ...at, status: 'COMPLETED', output: { emailId: mail.emailId } }),
    );
  const delivery = await deps.mailer.deliver(claimed, async (trx, outcome) =>
    outcome.kind === 'later'
      ? undefined
      : completeEffect(trx, { ...at, ...visitOutcome(outcome, mail.emailId), attempts: claimed.attempts }),
  );
  if (delivery.outcome.kind === 'later') return deferred(deps, at, delivery.outcome, claimed.attempts);
  return (
    delivery.settled ??
    inTransaction(deps.db, (trx) =>
      completeEffect(trx, { ...at, status: 'COMPLETED', output: { emailId: mail.emailId } }),
    )
  );
}

function visitOutcome(outcome: EmailOutcome, emailId: string) {
  switch (outcome.kind) {
    case 'failed':
      return {
        status: SKIPPED.test(outcome.reason) ? ('SKIPPED' as const) : ('FAILED' as const),
        output: { emailId, reason: outcome.reason },
        error: outcome.error,
      };
    case 'bounced':
      return { status: 'FAILED' as const, output: { emailId, reason: outcome.reason }, error: outcome.error };
    case 'held':
      return { status: 'COMPLETED' as const, output: { emailId, held: true } };
    default:
      return { status: 'COMPLETED' as const, output: { emailId } };
  }
}

async function deferred(
  deps: ActivityDeps,
  at: { executionId: string; visit: number },
  outcome: EmailOutcome & { kind: 'later' },
  attempts: number,
): Promise<never> {
  await inTransaction(deps.db, (trx) => noteAttempt(trx, { ...at, attempts, error: outcome.error }));
  throw ApplicationFailure.create({
    type: 'MAIL_DEFERRED',
    message: `try ${attempts}: ${outcome.error}; again at ${outcome.dueAt.toISOString()}`,
    nextRetryDelay: Math.max(1_000, outcome.dueAt.getTime() - Date.now()),
  });
}
