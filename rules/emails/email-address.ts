import { z } from 'zod';

/** The longest address that mail can carry (RFC 5321 §4.5.3.1.3, without the angle brackets). */
export const EMAIL_MAX_CHARS = 254;

/** How addresses are compared and stored: trimmed and in lower case (contract §3.1). */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}

/** What follows the last `@`, in lower case; empty where there is none. */
export function emailDomain(email: string): string {
  const at = email.lastIndexOf('@');
  return at < 0
    ? ''
    : email
        .slice(at + 1)
        .trim()
        .toLowerCase();
}

const ADDRESS = z.email().max(EMAIL_MAX_CHARS);

/** Whether a normalised address is well-formed, by the rule of the API's inputs. */
export function isEmailAddress(email: string): boolean {
  return ADDRESS.safeParse(email).success;
}
