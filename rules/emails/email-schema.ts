import { z } from 'zod';
import { MAILBOX_MAX_CHARS, type Mailbox, parseMailbox } from './email-address.ts';

/**
 * Creates the schema that parses the text of one mailbox to an address and a display name. The error messages of the
 * schema tell the user how to correct the text.
 */
export function createMailboxSchema() {
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

/** Creates the schema that parses the text of one mailbox to the address, in the form that is stored and compared. */
export function createEmailSchema() {
  return createMailboxSchema().transform(({ email }) => email);
}
