import { CancelledFailure, Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Trx } from '../../db/connection.ts';
import { noteAttempt } from '../../db/executions/visits.ts';
import { createGroupCommit } from '../../db/group-commit.ts';
import { type ClaimedEmail, claimEmails } from '../../db/sending/email-ledger.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { AttemptedEmail } from '../../engine/attempts/email-outcomes.ts';
import {
  completeEffect,
  completeEffects,
  type EffectOutcome,
  type EffectPosition,
  type EffectRunners,
  resumeExecutions,
} from '../../engine/automations/resume.ts';
import { waitForWindow } from '../../engine/automations/window-waits.ts';
import { findMarketing, type StepEmail, saveStepEmails } from '../../engine/sending/step-emails.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { isUntried, type RecordedOutcome, type UntriedOutcome } from '../../rules/emails/attempt-outcome.ts';
import { describeAttempt } from '../../rules/emails/last-attempt.ts';
import { isSimulated } from '../../rules/emails/simulator.ts';
import { type KeyPads, keyPads } from '../../rules/emails/suppression.ts';
import { outcomeOfEmail } from '../../rules/executions/email-step-outcome.ts';
import type { Next, StepInput } from '../../rules/executions/execution.ts';
import type { ActivityDeps } from '../deps.ts';
import type { SendRates } from '../emails/send-rates.ts';
import type { SettledEmail, SettleHookResult } from '../emails/settler.ts';

/** The maximum number of executions that prepare their emails in one transaction. */
const BATCH_MAX = 50;
const LANES = 2;
/**
 * A second transaction starts only for at least this many executions. Fewer wait for the running transaction and share
 * the next one.
 */
const WORTH_A_LANE = 16;

/** The email that this attempt has to send, or the execution's next position if there is no email to send. */
type StepBeginning = { email: ClaimedEmail } | { next: Next };

/**
 * A sandbox sends an email in the same way. Its execution has the mode `test`, so no recipient gets the email. The
 * email's row uses the contact's data as changed by the run.
 */
const EMAIL_OF: EffectRunners<EffectPosition> = { real: (effect) => effect, sandbox: (effect) => effect };

/**
 * Creates the SEND_EMAIL activity. Before an email is sent, it is stored in a row that is unique for the execution and
 * visit. A run after a crash therefore sends the same email, not a second one. One transaction records the status, the
 * event and the execution's next step. Executions that arrive at the same time share the transactions before and after
 * the email.
 * @throws ApplicationFailure MAIL_DEFERRED if the provider deferred the email, SEND_RATE if the project may
 * not send yet, both with the delay for Temporal; CancelledFailure if it must stop before the email was sent
 */
export function createSendEmailStep(deps: ActivityDeps): (input: StepInput) => Promise<Next> {
  const { rates } = deps;
  const suppressionPads = keyPads(deriveKey(deps.config.secretKey, 'suppression'));
  const beginnings = createGroupCommit<StepInput, StepBeginning>({
    lanes: LANES,
    max: BATCH_MAX,
    worthALane: WORTH_A_LANE,
    queueOf: (input) => input.projectId,
    apartBy: (input) => [input.executionId],
    commit: (inputs) => inTransaction(deps.db, (trx) => claimStepEmails(trx, inputs, suppressionPads)),
  });
  return async (input) => {
    const { projectId } = input;
    const hasToken = await takeToken(rates, projectId);
    const begun = await beginnings.add(input);
    const unused = 'next' in begun || begun.email.mode === 'test' || isSimulated(begun.email);
    if (hasToken && unused) await rates.returnTokens(projectId, 1);
    return 'next' in begun ? begun.next : send(deps, begun.email);
  };
}

/**
 * Takes a token of the project's send rate before the step is read, so that waiting does not count as an attempt.
 * Without a token, the activity frees its slot. Returns whether a token was taken; a project without a rate needs none.
 * @throws ApplicationFailure SEND_RATE with the delay for Temporal
 */
async function takeToken(rates: SendRates, projectId: string): Promise<boolean> {
  if ((await rates.rateOf(projectId)) === 0) return false;
  const isRepeated = Context.current().info.attempt > 1;
  const { granted, retryAfterMs } = await rates.take(projectId, { n: 1, order: 'workflow', isRepeated });
  if (granted > 0) return true;
  throw ApplicationFailure.create({
    type: 'SEND_RATE',
    message: `the project's send rate is used up; again in ${retryAfterMs} ms`,
    nextRetryDelay: retryAfterMs,
  });
}

/**
 * Ends the pauses before the step, makes MARKETING email wait for the sending window, inserts the emails of executions
 * at a SEND_EMAIL, and claims them. The results are in the order of the inputs.
 */
async function claimStepEmails(trx: Trx, inputs: StepInput[], suppressionPads: KeyPads): Promise<StepBeginning[]> {
  const projectId = inputs[0]?.projectId ?? '';
  const positions = await resumeExecutions(trx, { projectId, inputs });
  const effects = positions.flatMap((position) => position.atEffect('SEND_EMAIL', EMAIL_OF) ?? []);
  const marketing = await findMarketing(trx, { projectId, positions: effects });
  const waits = await waitForWindow(trx, { projectId, steps: marketing });
  const emails = await saveStepEmails(trx, {
    projectId,
    positions: effects.filter(({ execution }) => !waits.has(execution.id)),
  });
  const claimed = await claimEmails(trx, { projectId, emails: emails.flatMap(claimOf), suppressionPads });
  const stepEmailOf = new Map(emails.map((stepEmail) => [stepEmail.position.execution.id, stepEmail]));
  const emailOf = new Map(claimed.map((email) => [email.executionId, email]));
  const begun: StepBeginning[] = [];
  for (const { execution, next } of positions) {
    const stepEmail = execution && stepEmailOf.get(execution.id);
    const email = execution && emailOf.get(execution.id);
    const wait = execution && waits.get(execution.id);
    if (email) begun.push({ email });
    else if (wait) begun.push({ next: wait });
    else begun.push({ next: stepEmail ? await completeWithoutEmail(trx, stepEmail) : next });
  }
  return begun;
}

/** Returns the claim of a step's email. The execution's id is used as the id of the delivery. */
function claimOf(stepEmail: StepEmail): { id: string; deliveryId: string }[] {
  return stepEmail.outcome === 'saved' ? [{ id: stepEmail.emailId, deliveryId: stepEmail.position.execution.id }] : [];
}

/**
 * Completes a step that has no email to send: the step has an error, or an earlier attempt has settled its email and
 * could not close the visit.
 */
function completeWithoutEmail(trx: Trx, stepEmail: StepEmail): Promise<Next> {
  const { execution, next } = stepEmail.position;
  const at = { executionId: execution.id, visit: next.visit };
  const outcome: EffectOutcome =
    stepEmail.outcome === 'unsendable'
      ? { ...at, status: 'FAILED', error: stepEmail.error, fails: true }
      : { ...at, status: 'COMPLETED', output: { emailId: stepEmail.emailId } };
  return completeEffect(trx, { projectId: execution.projectId, ...outcome });
}

async function send(deps: ActivityDeps, email: ClaimedEmail): Promise<Next> {
  const stop = Context.current().cancellationSignal;
  const { outcome, settled } = await deps.mailer.deliver(email, completeSteps, { stop });
  if (outcome.kind === 'stopped') throw new CancelledFailure('the execution was cancelled, or the worker stops');
  if (outcome.kind === 'deferred') return defer(deps, email, outcome);
  if (isUntried(outcome)) return throwRetry(outcome);
  const { projectId } = email;
  // Another attempt of this step may have settled the email. This completes the step.
  return settled ?? inTransaction(deps.db, (trx) => completeEffect(trx, { projectId, ...completionOf(email) }));
}

/** Completes the steps of emails in the transaction that records them. A deferred email leaves its step open. */
async function completeSteps(trx: Trx, settled: SettledEmail[]): Promise<SettleHookResult<Next | undefined>> {
  const done = settled.filter(({ outcome }) => outcome.kind !== 'deferred');
  const nexts = await completeEffects(trx, {
    projectId: settled[0]?.email.projectId ?? '',
    outcomes: done.map(({ email, outcome }) => ({
      ...completionOf(email),
      ...outcomeOfEmail(outcome, email.id),
      attempts: email.attempts,
    })),
    contactsLocked: true, // The transaction that recorded the results has completed the step.
  });
  return { values: settled.map((item) => nexts[done.indexOf(item)]) };
}

function completionOf(email: AttemptedEmail): EffectOutcome {
  const { executionId, visit } = stepOf(email);
  return { executionId, visit, status: 'COMPLETED', output: { emailId: email.id } };
}

function stepOf({ id, executionId, visit }: AttemptedEmail): { executionId: string; visit: number } {
  if (executionId === null || visit === null) throw new Error(`email ${id} does not belong to a step`);
  return { executionId, visit };
}

/**
 * Throws the failure that makes Temporal run the step again at `dueAt`. The step then also checks its sending window.
 * This does not count as an attempt.
 */
function throwRetry({ kind, dueAt }: Exclude<UntriedOutcome, { kind: 'stopped' }>): never {
  throw ApplicationFailure.create({
    type: kind === 'throttled' ? 'OVER_BUDGET' : 'WINDOW_SHUT',
    message: `the email must not be sent now; next check at ${dueAt.toISOString()}`,
    nextRetryDelay: kind === 'throttled' ? Math.max(1_000, dueAt.getTime() - Date.now()) : 1_000,
  });
}

async function defer(
  deps: ActivityDeps,
  email: ClaimedEmail,
  outcome: RecordedOutcome & { kind: 'deferred' },
): Promise<never> {
  const { attempts } = email;
  await inTransaction(deps.db, (trx) => noteAttempt(trx, { ...stepOf(email), attempts, error: outcome.error }));
  throw ApplicationFailure.create({
    type: 'MAIL_DEFERRED',
    message: `${describeAttempt(outcome.last)}; again at ${outcome.dueAt.toISOString()}`,
    nextRetryDelay: Math.max(1_000, outcome.dueAt.getTime() - Date.now()),
  });
}
