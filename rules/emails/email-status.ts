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
 * The rank of each status. Statuses that end an email have the highest rank. If two such statuses are reported for an
 * email, the email keeps the first one.
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
 * Tells whether a report about an email, such as a delivery or an open, may change the status of the email. A report
 * never changes a status to one of a lower or equal rank (contract §9.1 Statuses). Other changes do not use the ranks:
 * a deferred campaign email and a retried recipient become PENDING again.
 */
export function canChangeStatus(from: EmailStatus, to: EmailStatus): boolean {
  return RANK[to] > RANK[from];
}

/**
 * Returns the statuses that a report may change to `to`. An UPDATE for a report checks the current status: `WHERE
 * status = ANY(${listStatusesBefore('OPENED')}::text[])`. A late `delivered` therefore does not undo OPENED.
 */
export function listStatusesBefore(to: EmailStatus): EmailStatus[] {
  return EMAIL_STATUSES.filter((from) => canChangeStatus(from, to));
}
