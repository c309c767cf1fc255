import { messageId } from '../content/link-tokens.ts';
import { emailDomain } from './email-address.ts';
import type { EmailOptions } from './email-options.ts';

/** Returns the Message-ID of an email, with angle brackets: its author's own, else the one that derives from its id. */
export function messageIdOf(email: { id: string; from: string; options: EmailOptions | null }): string {
  const own = email.options?.messageId ?? email.options?.original?.messageId;
  return own ?? messageId(email.id, emailDomain(email.from));
}
