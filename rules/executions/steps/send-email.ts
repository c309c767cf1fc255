import { z } from 'zod';
import { findUnexpectedExpressionError, hasExpression, listExpressionErrors } from '../../content/expressions.ts';
import { parseMailbox } from '../../emails/email-address.ts';
import { createEmailSchema, createMailboxSchema } from '../../emails/email-schema.ts';
import { type EffectStep, findConfigErrors } from './definition.ts';

/** Parses a sender that is written as text, such as `Ada <ada@example.com>`. */
const Sender = createMailboxSchema().transform(({ email, name }) => (name === null ? email : { name, email }));

/** The config of a SEND_EMAIL step that can send. */
export const SendEmailConfig = z.object({
  templateId: z.uuid(),
  from: z.union([Sender, z.object({ name: z.string().max(200).optional(), email: createEmailSchema() })]).optional(),
  recipient: z
    .object({ type: z.enum(['CONTACT', 'CUSTOM']), customEmail: z.string().max(300).optional() })
    .refine((to) => to.type === 'CONTACT' || Boolean(to.customEmail), {
      path: ['customEmail'],
      message: 'Enter the email address that gets the email (customEmail).',
    })
    .optional(),
});

/** The config in a request. The template may be missing until the workflow is enabled. */
const SendEmailInput = SendEmailConfig.partial({ templateId: true }).superRefine(({ from, recipient }, ctx) => {
  const fromError = typeof from === 'object' && from.name ? findUnexpectedExpressionError(from.name) : undefined;
  if (fromError !== undefined) ctx.addIssue({ code: 'custom', path: ['from'], message: fromError });
  const customEmail = recipient?.customEmail;
  if (recipient?.type === 'CONTACT' && customEmail) {
    const message = 'Only counts with type CUSTOM: set type, or omit customEmail.';
    ctx.addIssue({ code: 'custom', path: ['recipient', 'customEmail'], message });
  }
  const address = !customEmail || hasExpression(customEmail) ? undefined : parseMailbox(customEmail);
  if (address?.ok === false)
    ctx.addIssue({ code: 'custom', path: ['recipient', 'customEmail'], message: address.reason });
  for (const error of listExpressionErrors(recipient?.customEmail, ['recipient', 'customEmail']))
    ctx.addIssue({ code: 'custom', ...error });
});

/** Sends an email with a template to the contact, or to an address from the config, which may use variables. */
export const sendEmail: EffectStep<'steps'> = {
  kind: 'effect',
  queue: 'steps',
  input: SendEmailInput,
  older: SendEmailConfig.partial({ templateId: true }),
  faults({ config: { from, recipient }, templateId, senderReady }) {
    if (!templateId) return ['has no template'];
    const faults = findConfigErrors(SendEmailInput, { from, recipient });
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
