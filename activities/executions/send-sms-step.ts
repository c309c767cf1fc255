import { ApplicationFailure } from '@temporalio/common';
import { type Compute, OverBudget } from '../../compute/compute.ts';
import { compileForSending, renderToStrings } from '../../compute/contents.ts';
import type { Trx } from '../../db/connection.ts';
import { findPhoneCountry } from '../../db/projects/phone-country.ts';
import { canSendSms, insertSms } from '../../db/sms/messages.ts';
import { inSavepoint, inTransaction } from '../../db/transaction.ts';
import {
  completeEffect,
  type EffectOutcome,
  type EffectPosition,
  type EffectRunners,
  resumeExecution,
} from '../../engine/automations/resume.ts';
import { loadStepVariables } from '../../engine/automations/variables.ts';
import { startWindowWaits } from '../../engine/automations/window-waits.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { buildContactUrls, createContactToken } from '../../rules/content/link-tokens.ts';
import { TemplateError } from '../../rules/content/template-error.ts';
import type { Reason } from '../../rules/emails/reasons.ts';
import { type KeyPads, padHmacKey } from '../../rules/emails/suppression.ts';
import { AppError } from '../../rules/errors.ts';
import type { Next, StepInput } from '../../rules/executions/execution.ts';
import { SendSmsConfig } from '../../rules/executions/steps/send-sms.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { type PhoneNumber, readWrittenNumber } from '../../rules/sms/phone.ts';
import { findSmsBodyError, toSmsContent } from '../../rules/sms/text.ts';
import type { ActivityDeps } from '../deps.ts';

/** The text and the recipient of a step's SMS, or the outcome of the step if no SMS is sent. */
type PreparedSms = { to: PhoneNumber; from: string | undefined; body: string } | { unsent: Unsent };
type Unsent = Omit<EffectOutcome, 'executionId' | 'visit'>;

type SmsPosition = EffectPosition & { sandbox: boolean };

/**
 * An SMS of a sandbox is accepted in the same way as a real SMS. A sandbox execution has the mode `test`, so no
 * recipient gets the SMS.
 */
const SMS_OF: EffectRunners<SmsPosition> = {
  real: (effect) => ({ ...effect, sandbox: false }),
  sandbox: (effect) => ({ ...effect, sandbox: true }),
};

/**
 * Creates the SEND_SMS activity. The activity renders the text first, outside any transaction. The transaction that
 * ends the visit also inserts the SMS, so a visit has at most one SMS even if the activity runs again. The SMS is then
 * delivered like an SMS from an API request.
 * @throws ApplicationFailure COMPUTE_BUDGET when the project exceeds its computing budget; Temporal retries after the
 * delay that it contains
 */
export function createSendSmsStep(deps: ActivityDeps): (input: StepInput) => Promise<Next> {
  const pads = padHmacKey(deriveKey(deps.config.secretKey, 'suppression'));
  return async (input) => {
    const position = await inTransaction(deps.db, (trx) => resumeExecution(trx, input));
    const effect = position.atEffect('SEND_SMS', SMS_OF);
    if (!effect) return position.next;
    const prepared = await prepareSms(deps, effect);
    const { next, outbox } = await inTransaction(deps.db, async (trx) => {
      const currentPosition = await resumeExecution(trx, { ...input, visit: effect.next.visit });
      const currentEffect = currentPosition.atEffect('SEND_SMS', SMS_OF);
      // Another attempt has completed this step in the meantime, or the execution has ended.
      if (currentEffect?.next.visit !== effect.next.visit) return { next: currentPosition.next, outbox: [] };
      return acceptSms(trx, currentEffect, { prepared, pads });
    });
    deps.outbox.wake(outbox);
    return next;
  };
}

async function prepareSms({ config, db, compute }: ActivityDeps, position: EffectPosition): Promise<PreparedSms> {
  const parsed = SendSmsConfig.safeParse(position.step.config);
  if (!parsed.success)
    return failUnsent('template_error', parsed.error.issues.map(({ message }) => message).join('; '));
  if (config.sms.provider === 'none')
    return { unsent: { status: 'FAILED', error: new AppError('SMS_NOT_ENABLED').message } };
  const { execution } = position;
  const manage = createContactToken(config.secretKey, execution.contactId);
  const { contact, variables } = await loadStepVariables(db, execution, buildContactUrls(config.publicUrl, manage));
  const country = await findPhoneCountry(db, execution.projectId);
  const to = readWrittenNumber(String(contact.data.values.phone ?? ''), country);
  if (!to) return { unsent: { status: 'SKIPPED', output: { reason: 'no_phone' satisfies Reason } } };
  const urls = { baseUrl: config.publicUrl, track: '', manage };
  const rendered = await renderBody(compute, {
    projectId: execution.projectId,
    text: parsed.data.body,
    input: { vars: variables, urls },
  });
  if ('error' in rendered) return failUnsent('template_error', rendered.error);
  const bodyError = findSmsBodyError(rendered.body);
  if (bodyError !== undefined) return failUnsent('template_error', bodyError);
  return { to, from: parsed.data.from, body: rendered.body };
}

function failUnsent(reason: Reason, error: string): { unsent: Unsent } {
  return { unsent: { status: 'FAILED', output: { reason }, error } };
}

async function renderBody(
  compute: Compute,
  {
    projectId,
    text,
    input,
  }: { projectId: string; text: string; input: Parameters<typeof renderToStrings>[2]['input'] },
): Promise<{ body: string } | { error: string }> {
  const work = { projectId, kind: 'sms.text' };
  try {
    const content = await compileForSending(compute, work, toSmsContent(text));
    return { body: (await renderToStrings(compute, work, { content, input })).text };
  } catch (error) {
    if (error instanceof TemplateError) return { error: error.message };
    if (!(error instanceof OverBudget)) throw error;
    throw ApplicationFailure.create({
      type: 'COMPUTE_BUDGET',
      message: error.message,
      nextRetryDelay: Math.max(1_000, error.retryAfterMs),
    });
  }
}

/**
 * Inserts the SMS and completes the step. Consent and the sending window are checked here, while the contact is locked,
 * and again when the SMS is claimed.
 */
async function acceptSms(
  trx: Trx,
  position: SmsPosition,
  { prepared, pads }: { prepared: PreparedSms; pads: KeyPads },
): Promise<{ next: Next; outbox: OutboxRow[] }> {
  const { execution, next } = position;
  const { projectId, contactId, mode } = execution;
  const at = { executionId: execution.id, visit: next.visit };
  const end = async (outcome: Unsent, outbox: OutboxRow[] = []) => ({
    next: await completeEffect(trx, { projectId, ...at, ...outcome }),
    outbox,
  });
  if ('unsent' in prepared) return end(prepared.unsent);
  // An SMS is marketing unless the step's config has `transactional: true`. Marketing waits for the project's sending
  // window.
  const marketing = position.step.config.transactional !== true;
  const { waits, advanced } = await startWindowWaits(trx, { projectId, steps: marketing ? [position] : [] });
  const wait = waits.get(execution.id);
  if (wait) return { next: wait, outbox: [] };
  const { to, body, from } = prepared;
  if (!(await canSendSms(trx, { pads, projectId, contactId, to, from, marketing })))
    return end({ status: 'SKIPPED', output: { reason: 'sms_stopped' satisfies Reason } });
  try {
    const { sms, outbox } = await inSavepoint(trx, () =>
      insertSms(trx, {
        projectId,
        mode,
        to,
        body,
        contactId,
        from,
        executionId: execution.id,
        marketing,
        sandbox: position.sandbox,
      }),
    );
    // Keeps the mark in the output of the visit, because each attempt at the SMS reads it there.
    const output = { smsId: sms.id, ...(advanced.has(execution.id) && { advanced: true }) };
    return end({ status: 'COMPLETED', output }, outbox);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return end({ status: 'FAILED', error: error.message });
  }
}
