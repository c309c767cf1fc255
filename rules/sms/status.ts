/** Every status of an SMS. */
export const SMS_STATUSES = ['PENDING', 'QUEUED', 'SENT', 'DELIVERED', 'UNDELIVERED', 'FAILED'] as const;
export type SmsStatus = (typeof SMS_STATUSES)[number];

const RANK: Record<SmsStatus, number> = { PENDING: 0, QUEUED: 1, SENT: 2, DELIVERED: 3, UNDELIVERED: 3, FAILED: 3 };

/**
 * Returns the statuses from which an SMS may change to `to`. A status changes only to a status of a higher rank, and a
 * final status never changes.
 */
export function listSmsStatusesBefore(to: SmsStatus): SmsStatus[] {
  return SMS_STATUSES.filter((from) => RANK[from] < RANK[to]);
}
