/** Every status of an email (contract §9.1 Statuses). */
export const EMAIL_STATUSES = [
  'PENDING',
  'SENDING',
  'HELD',
  'SENT',
  'DELIVERED',
  'RECEIVED',
  'OPENED',
  'CLICKED',
  'BOUNCED',
  'COMPLAINED',
  'FAILED',
] as const;
export type EmailStatus = (typeof EMAIL_STATUSES)[number];

/** A final status outranks all others, and the first of two final ones stays. */
const RANK: Record<EmailStatus, number> = {
  PENDING: 0,
  HELD: 0,
  SENDING: 1,
  SENT: 2,
  DELIVERED: 3,
  OPENED: 4,
  CLICKED: 5,
  BOUNCED: 6,
  COMPLAINED: 6,
  FAILED: 6,
  RECEIVED: 6,
};

/** Whether an email may go from one status to another: never back (contract §9.1 Statuses). */
export function statusAdvances(from: EmailStatus, to: EmailStatus): boolean {
  return RANK[to] > RANK[from];
}

/**
 * The statuses an email may be in to become `to`. It is the one guard of every UPDATE of `emails.status`:
 * `WHERE status = ANY(${statusesBefore('OPENED')}::text[])`, so a late `delivered` does not undo OPENED.
 */
export function statusesBefore(to: EmailStatus): EmailStatus[] {
  return EMAIL_STATUSES.filter((from) => statusAdvances(from, to));
}
