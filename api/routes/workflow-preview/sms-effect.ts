import { compileForSending, renderToStrings } from '../../../compute/contents.ts';
import { findPhoneCountry } from '../../../db/projects/phone-country.ts';
import { canSendSms } from '../../../db/sms/messages.ts';
import type { ExecutionEnvironment } from '../../../engine/automations/environment.ts';
import type { PreviewedEffect } from '../../../engine/automations/preview.ts';
import type { EffectPosition } from '../../../engine/automations/resume.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { createContactToken } from '../../../rules/content/link-tokens.ts';
import { TemplateError } from '../../../rules/content/template-error.ts';
import type { Reason } from '../../../rules/emails/reasons.ts';
import { padHmacKey } from '../../../rules/emails/suppression.ts';
import { SendSmsConfig } from '../../../rules/executions/steps/send-sms.ts';
import { readWrittenNumber } from '../../../rules/sms/phone.ts';
import { findSmsBodyError, toSmsContent } from '../../../rules/sms/text.ts';
import type { EffectDeps } from './effects.ts';
import { advanceToSendingWindow } from './window.ts';

/** Previews the SMS of a SEND_SMS step, or the reason why it would not be sent. */
export async function previewSms(
  deps: EffectDeps,
  position: EffectPosition,
  environment: ExecutionEnvironment,
): Promise<PreviewedEffect> {
  const { execution, step } = position;
  const config = SendSmsConfig.safeParse(step.config).data;
  if (!config) return toUnsentEffect('FAILED', 'template_error', null);
  const { contact, variables } = await environment.loadVariables(execution);
  const { projectId, contactId } = execution;
  const to = readWrittenNumber(String(contact.data.values.phone ?? ''), await findPhoneCountry(deps.db, projectId));
  if (!to) return toUnsentEffect('SKIPPED', 'no_phone', null);
  const manage = createContactToken(deps.config.secretKey, contactId);
  const urls = { baseUrl: deps.config.publicUrl, track: '', manage };
  const rendered = await renderSmsText(deps, { projectId, text: config.body, input: { vars: variables, urls } });
  if (findSmsBodyError(rendered) !== undefined) return toUnsentEffect('FAILED', 'template_error', to.e164);
  const opensAt = config.transactional ? undefined : await advanceToSendingWindow(position, environment);
  const pads = padHmacKey(deriveKey(deps.config.secretKey, 'suppression'));
  const { from, transactional } = config;
  if (!(await canSendSms(deps.db, { pads, projectId, contactId, to, from, marketing: transactional !== true })))
    return { ...toUnsentEffect('SKIPPED', 'sms_stopped', to.e164), opensAt };
  return {
    opensAt,
    outcome: { status: 'COMPLETED', output: {} },
    shown: { channel: 'sms', wouldSend: true, reason: null, to: to.e164, from: config.from ?? null, body: rendered },
  };
}

function toUnsentEffect(status: 'FAILED' | 'SKIPPED', reason: Reason, to: string | null): PreviewedEffect {
  return { outcome: { status, output: { reason } }, shown: { channel: 'sms', wouldSend: false, reason, to } };
}

/** Renders the text. Returns an empty text, which no SMS has, if the template cannot be rendered. */
async function renderSmsText(
  { compute }: EffectDeps,
  {
    projectId,
    text,
    input,
  }: { projectId: string; text: string; input: Parameters<typeof renderToStrings>[2]['input'] },
): Promise<string> {
  const work = { projectId, kind: 'workflow.preview' };
  try {
    const content = await compileForSending(compute, work, toSmsContent(text));
    return (await renderToStrings(compute, work, { content, input })).text;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return '';
  }
}
