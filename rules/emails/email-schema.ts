import { z } from 'zod';
import { MAILBOX_MAX_CHARS, type Mailbox, parseMailbox } from './email-address.ts';

/** Makes the schema of one mailbox as text, read to its address and display name; the message of a refusal says what to do. */
export function mailboxText() {
  return z
    .string()
    .max(MAILBOX_MAX_CHARS)
    .transform((text, ctx): Mailbox => {
      const parsed = parseMailbox(text);
      if (parsed.ok) return { email: parsed.email, name: parsed.name };
      ctx.issues.push({ code: 'custom', message: parsed.reason, input: text, params: { code: 'invalid_string' } });
      return z.NEVER;
    });
}

/** Makes the same schema, read to the address alone, in the form that is stored and compared. */
export function emailText() {
  return mailboxText().transform(({ email }) => email);
}
