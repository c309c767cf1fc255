import { z } from 'zod';
import { findUnfilledError, hasExpression, listExpressionErrors } from '../../content/expressions.ts';
import { parseMailbox } from '../../emails/email-address.ts';
import { emailText, mailboxText } from '../../emails/email-schema.ts';
import { configFaults, type EffectStep } from './definition.ts';

/** A sender as text: its address, with the display name if there is one. */
const Sender = mailboxText().transform(({ email, name }) => (name === null ? email : { name, email }));

/** Settings that a SEND_EMAIL step needs in order to send. */
export const SendEmailConfig = z.object({
  templateId: z.uuid(),
  from: z.union([Sender, z.object({ name: z.string().max(200).optional(), email: emailText() })]).optional(),
  recipient: z
    .object({ type: z.enum(['CONTACT', 'CUSTOM']), customEmail: z.string().max(300).optional() })
    .refine((to) => to.type === 'CONTACT' || Boolean(to.customEmail), {
      path: ['customEmail'],
      message: 'customEmail is required when type is CUSTOM',
    })
    .optional(),
});

/** The template may be missing until the workflow is enabled. */
const SendEmailInput = SendEmailConfig.partial({ templateId: true }).superRefine(({ from, recipient }, ctx) => {
  const unfilled = typeof from === 'object' && from.name ? findUnfilledError(from.name) : undefined;
  if (unfilled !== undefined) ctx.addIssue({ code: 'custom', path: ['from'], message: unfilled });
  const written = recipient?.customEmail;
  if (recipient?.type === 'CONTACT' && written) {
    const message = 'Only counts with type CUSTOM: set type, or omit customEmail.';
    ctx.addIssue({ code: 'custom', path: ['recipient', 'customEmail'], message });
  }
  const address = !written || hasExpression(written) ? undefined : parseMailbox(written);
  if (address?.ok === false)
    ctx.addIssue({ code: 'custom', path: ['recipient', 'customEmail'], message: address.reason });
  for (const fault of listExpressionErrors(recipient?.customEmail, ['recipient', 'customEmail']))
    ctx.addIssue({ code: 'custom', ...fault });
});

/** Sends an email with a template to the contact, or to an address from the config, which may use variables. */
export const sendEmail: EffectStep<'steps'> = {
  kind: 'effect',
  queue: 'steps',
  input: SendEmailInput,
  older: SendEmailConfig.partial({ templateId: true }),
  faults({ config: { from, recipient }, templateId, senderReady }) {
    if (!templateId) return ['has no template'];
    const faults = configFaults(SendEmailInput, { from, recipient });
    if (faults.length > 0) return faults;
    return senderReady ? [] : ['has no sender on a verified domain, nor has its template'];
  },
  branches: () => [null],
  names: ['templateId'],
  secretsIn: [],
  sendsEmail: true,
  conditionAt: null,
  usesField: null,
  usesEvent: null,
};
