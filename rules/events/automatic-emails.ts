import type { EmailEvent } from './event-names.ts';

export const EMAIL_RECEIVED_EVENT: EmailEvent = 'email.received';

/**
 * Maximum starts of a workflow by inbound email of one contact within an hour. Auto-replies without any mark would
 * otherwise reply to the workflow's emails forever: one such pair exchanged 77 emails in 25 s.
 */
export const INBOUND_STARTS_PER_HOUR = 5;

/**
 * Tells whether an event counts for a trigger, a wait or an exit. Automatic emails (out-of-office replies, list and
 * bulk email) count only if the listener includes them.
 */
export function countsForListener(
  listener: { includeAutomatic?: boolean | null | undefined },
  event: { name: string; data: Record<string, unknown> },
): boolean {
  const isAutomatic = event.name === EMAIL_RECEIVED_EVENT && event.data.autoSubmitted === true;
  return !isAutomatic || listener.includeAutomatic === true;
}
