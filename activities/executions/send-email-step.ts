import { CancelledFailure, Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Trx } from '../../db/connection.ts';
import { recordFailedAttempt } from '../../db/executions/visits.ts';
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
import { startWindowWaits } from '../../engine/automations/window-waits.ts';
import { draftStepEmails, type StepEmail, saveStepEmails } from '../../engine/sending/step-emails.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { isUntried, type RecordedOutcome, type UntriedOutcome } from '../../rules/emails/attempt-outcome.ts';
import { describeAttempt } from '../../rules/emails/last-attempt.ts';
import { isSimulated } from '../../rules/emails/simulator.ts';
import { type KeyPads, padHmacKey } from '../../rules/emails/suppression.ts';
import { toEmailStepOutcome } from '../../rules/executions/email-step-outcome.ts';
import type { Next, StepInput } from '../../rules/executions/execution.ts';
import type { ActivityDeps } from '../deps.ts';
import type { SendRates } from '../emails/send-rates.ts';
import type { SettledEmail, SettleHookResult } from '../emails/settler.ts';

/** The maximum number of executions that prepare their emails in one transaction. */
const BATCH_MAX = 50;
const LANES = 2;
/**
 * While a transaction is running, a second one starts only for at least this many executions. Fewer executions wait
 * until the running transaction has ended, and share the next transaction.
 */
const WORTH_A_LANE = 16;

/** The email that this attempt of the step has to send. If there is no email to send, the execution's next position. */
type StepStart = { email: ClaimedEmail } | { next: Next };

/**
 * An email of a sandbox is handled in the same way as a real email. A sandbox execution has the mode `test`, so no
 * recipient gets the email. The email is rendered with the contact's data as the sandbox has changed it.
 */
const EMAIL_OF: EffectRunners<EffectPosition> = { real: (effect) => effect, sandbox: (effect) => effect };

/**
 * Creates the SEND_EMAIL activity. Before the email is sent, it is stored in a row that is unique for the execution and
 * the visit. If the activity runs again after a crash, it therefore finds the same email and does not create a second
 * one. One transaction records the email's status, its event and the execution's next step. Executions that arrive at
 * the same time share the transactions before and after the sending.
 * @throws ApplicationFailure MAIL_DEFERRED if the provider deferred the email; SEND_RATE if the project's rate allows
 * no email yet; OVER_BUDGET or WINDOW_SHUT as `throwRetry` says. Temporal retries after the delay that the failure
 * contains. CancelledFailure if the activity must stop before the email was sent.
 */
export function createSendEmailStep(deps: ActivityDeps): (input: StepInput) => Promise<Next> {
  const { rates } = deps;
  const suppressionPads = padHmacKey(deriveKey(deps.config.secretKey, 'suppression'));
  const starts = createGroupCommit<StepInput, StepStart>({
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
    const started = await starts.add(input);
    const unused = 'next' in started || started.email.mode === 'test' || isSimulated(started.email);
    if (hasToken && unused) await rates.returnTokens(projectId, 1);
    return 'next' in started ? started.next : deliver(deps, started.email);
  };
}

/**
 * Takes a token of the project's send rate before the step is read, so that waiting for a token does not count as an
 * attempt. If no token is available, the activity fails, frees its slot, and Temporal retries it. Returns whether a
 * token was taken; false means that the project has no send rate.
 * @throws ApplicationFailure SEND_RATE if no token is available; Temporal retries after the delay that it contains
 */
async function takeToken(rates: SendRates, projectId: string): Promise<boolean> {
  if ((await rates.getRate(projectId)) === 0) return false;
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
 * Prepares the steps of several executions of a project in one transaction. Ends the pauses before the steps, makes
 * MARKETING email wait for the sending window, inserts the other emails and claims them. The results have the same
 * order as the inputs.
 */
async function claimStepEmails(trx: Trx, inputs: StepInput[], suppressionPads: KeyPads): Promise<StepStart[]> {
  const projectId = inputs[0]?.projectId ?? '';
  const positions = await resumeExecutions(trx, { projectId, inputs });
  const effects = positions.flatMap((position) => position.atEffect('SEND_EMAIL', EMAIL_OF) ?? []);
  const drafts = await draftStepEmails(trx, { projectId, positions: effects });
  const marketing = drafts.filter((draft) => 'content' in draft && draft.content.type === 'MARKETING');
  const { waits } = await startWindowWaits(trx, { projectId, steps: marketing.map(({ position }) => position) });
  const emails = await saveStepEmails(trx, {
    projectId,
    drafts: drafts.filter(({ position }) => !waits.has(position.execution.id)),
  });
  const claimed = await claimEmails(trx, { projectId, emails: emails.flatMap(toClaimInputs), suppressionPads });
  const stepEmailOf = new Map(emails.map((stepEmail) => [stepEmail.position.execution.id, stepEmail]));
  const emailOf = new Map(claimed.map((email) => [email.executionId, email]));
  const started: StepStart[] = [];
  for (const { execution, next } of positions) {
    const stepEmail = execution && stepEmailOf.get(execution.id);
    const email = execution && emailOf.get(execution.id);
    const wait = execution && waits.get(execution.id);
    if (email) started.push({ email });
    else if (wait) started.push({ next: wait });
    else started.push({ next: stepEmail ? await completeWithoutEmail(trx, stepEmail) : next });
  }
  return started;
}

/**
 * Returns the input with which the email of a step is claimed. Empty if no email can be sent. The id of the execution
 * serves as the id of the delivery.
 */
function toClaimInputs(stepEmail: StepEmail): { id: string; deliveryId: string }[] {
  return stepEmail.outcome === 'saved' ? [{ id: stepEmail.emailId, deliveryId: stepEmail.position.execution.id }] : [];
}

/**
 * Completes a step that has no email to send. Either the step has an error, or an earlier attempt has settled the email
 * but could not close the visit.
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

async function deliver(deps: ActivityDeps, email: ClaimedEmail): Promise<Next> {
  const stop = Context.current().cancellationSignal;
  const { outcome, settled } = await deps.mailer.deliver(email, completeSteps, { stop });
  if (outcome.kind === 'stopped') throw new CancelledFailure('the execution was cancelled, or the worker stops');
  if (outcome.kind === 'deferred') return throwDeferred(deps, email, outcome);
  if (isUntried(outcome)) return throwRetry(outcome);
  const { projectId } = email;
  // If another attempt has settled the email, `completeSteps` did not run in this attempt, so the step is completed
  // now.
  return settled ?? inTransaction(deps.db, (trx) => completeEffect(trx, { projectId, ...createCompletion(email) }));
}

/**
 * Completes the steps of emails, in the transaction that records the emails' results. A step whose email was deferred
 * stays open, because the email is attempted again.
 */
async function completeSteps(trx: Trx, settled: SettledEmail[]): Promise<SettleHookResult<Next | undefined>> {
  const finished = settled.filter(({ outcome }) => outcome.kind !== 'deferred');
  const nexts = await completeEffects(trx, {
    projectId: settled[0]?.email.projectId ?? '',
    outcomes: finished.map(({ email, outcome }) => ({
      ...createCompletion(email),
      ...toEmailStepOutcome(outcome, email.id),
      attempts: email.attempts,
    })),
    contactsLocked: true, // The transaction that records the results has already locked the contacts.
  });
  return { values: settled.map((item) => nexts[finished.indexOf(item)]) };
}

function createCompletion(email: AttemptedEmail): EffectOutcome {
  const { executionId, visit } = getStepVisit(email);
  return { executionId, visit, status: 'COMPLETED', output: { emailId: email.id } };
}

function getStepVisit({ id, executionId, visit }: AttemptedEmail): { executionId: string; visit: number } {
  if (executionId === null || visit === null) throw new Error(`email ${id} does not belong to a step`);
  return { executionId, visit };
}

/**
 * Throws the failure that makes Temporal run the step again: at `dueAt` if the email was throttled, or after a second
 * if the sending window is closed. The step then starts its wait for the window. The email was not attempted, so this
 * does not count as an attempt.
 */
function throwRetry({ kind, dueAt }: Exclude<UntriedOutcome, { kind: 'stopped' }>): never {
  throw ApplicationFailure.create({
    type: kind === 'throttled' ? 'OVER_BUDGET' : 'WINDOW_SHUT',
    message: `the email must not be sent now; next check at ${dueAt.toISOString()}`,
    nextRetryDelay: kind === 'throttled' ? Math.max(1_000, dueAt.getTime() - Date.now()) : 1_000,
  });
}

async function throwDeferred(
  deps: ActivityDeps,
  email: ClaimedEmail,
  outcome: RecordedOutcome & { kind: 'deferred' },
): Promise<never> {
  const { attempts } = email;
  await inTransaction(deps.db, (trx) =>
    recordFailedAttempt(trx, { ...getStepVisit(email), attempts, error: outcome.error }),
  );
  throw ApplicationFailure.create({
    type: 'MAIL_DEFERRED',
    message: `${describeAttempt(outcome.last)}; again at ${outcome.dueAt.toISOString()}`,
    nextRetryDelay: Math.max(1_000, outcome.dueAt.getTime() - Date.now()),
  });
}
