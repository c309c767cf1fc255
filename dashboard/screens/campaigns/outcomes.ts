import type { Stats } from './words.ts';

/** Reasons of recipients that the campaign skipped, as the API counts them; also `suppressed:<why>`. */
export const SKIPPED: ReadonlySet<string> = new Set([
  'unsubscribed',
  'unsubscribed:topic',
  'unconfirmed',
  'frequency_capped',
  'cancelled',
  'left_audience',
  'contact_deleted',
  'sender_not_verified',
  'too_late',
]);

/** Returns whether a rule held the email back, so that the recipient is skipped and not failed. */
export function isSkipped(reason: string): boolean {
  return SKIPPED.has(reason) || reason.startsWith('suppressed:');
}

/** The number of recipients by outcome. The numbers add up to all recipients. */
export interface Parts {
  delivered: number;
  /** Sent, while the provider has not reported the delivery yet. */
  underWay: number;
  /** Not sent because of an error, or refused by the receiver, immediately or later. */
  failed: number;
  skipped: number;
  pending: number;
}

/**
 * Counts the recipients by outcome from the same reasons as the list below, so that both agree. The API counts a
 * refusal at the time of sending as failed, and a later one as sent and bounced; here both are failed.
 */
export function countOutcomes({ total, pending, skipped, delivered, byReason }: CountedStats): Parts {
  const failed = Object.entries(byReason).reduce((sum, [reason, n]) => (isSkipped(reason) ? sum : sum + n), 0);
  const sent = Math.max(0, total - pending - skipped - failed);
  return { delivered: Math.min(delivered, sent), underWay: Math.max(0, sent - delivered), failed, skipped, pending };
}

type CountedStats = Pick<Stats, 'total' | 'pending' | 'skipped' | 'delivered' | 'byReason'>;
