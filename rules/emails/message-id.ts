import { createMessageId } from '../content/link-tokens.ts';
import { emailDomain } from './email-address.ts';
import type { EmailOptions } from './email-options.ts';

/**
 * Returns the Message-ID of an email, with angle brackets: the one that the caller set, else one that is derived from
 * the email's id.
 */
export function getMessageId(email: { id: string; from: string; options: EmailOptions | null }): string {
  const callersId = email.options?.messageId ?? email.options?.original?.messageId;
  return callersId ?? createMessageId(email.id, emailDomain(email.from));
}
