import { messageId } from '../content/link-tokens.ts';
import { emailDomain } from './email-address.ts';
import type { EmailOptions } from './email-options.ts';

/** The Message-ID that an email carries, with angle brackets: its author's own, else the one that we give each email. */
export function messageIdOf(email: { id: string; from: string; options: EmailOptions | null }): string {
  const own = email.options?.messageId ?? email.options?.original?.messageId;
  return own ?? messageId(email.id, emailDomain(email.from));
}
