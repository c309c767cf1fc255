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

/**
 * The rank of each status. A final status has the highest rank. If two final statuses are reported for an email, it
 * keeps the first one.
 */
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

/**
 * Tells whether an email may change from one status to another. A status never changes to one of a lower or equal rank
 * (contract §9.1 Statuses).
 */
export function canChangeStatus(from: EmailStatus, to: EmailStatus): boolean {
  return RANK[to] > RANK[from];
}

/**
 * Returns the statuses from which an email may change to `to`. Every UPDATE of `emails.status` checks the current
 * status: `WHERE status = ANY(${listStatusesBefore('OPENED')}::text[])`. A late `delivered` therefore does not undo
 * OPENED.
 */
export function listStatusesBefore(to: EmailStatus): EmailStatus[] {
  return EMAIL_STATUSES.filter((from) => canChangeStatus(from, to));
}
