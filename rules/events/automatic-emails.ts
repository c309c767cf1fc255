import type { EmailEvent } from './event-names.ts';

export const EMAIL_RECEIVED_EVENT: EmailEvent = 'email.received';

/**
 * The maximum number of times that inbound email of one contact can start a workflow within an hour. Without this
 * limit, an auto-reply that is not marked as automatic would reply to the workflow's emails forever. In one case, a
 * workflow and an auto-reply exchanged 77 emails in 25 s.
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
