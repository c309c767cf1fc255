import { z } from 'zod';
import { emailText, mailboxText } from '../../emails/email-schema.ts';
import type { EffectStep } from './definition.ts';

/** A sender as text: its address, with the display name where it has one. */
const Sender = mailboxText().transform(({ email, name }) => (name === null ? email : { name, email }));

/** What a SEND_EMAIL step needs in order to send. */
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

/** Sends an email by a template to the contact, or to an address that the config makes of variables. */
export const sendEmail: EffectStep<'steps'> = {
  kind: 'effect',
  queue: 'steps',
  // The step may be drawn before its template is chosen; enabling the workflow asks for it.
  input: SendEmailConfig.partial({ templateId: true }),
  faults({ templateId, senderReady }) {
    if (!templateId) return ['has no template'];
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
