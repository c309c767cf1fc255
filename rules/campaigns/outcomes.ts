/**
 * The outcomes of recipients that a campaign's statistics count. `pending`, `sent`, `failed` and `skipped` together
 * cover each recipient once.
 */
export const RECIPIENT_OUTCOMES = [
  'pending',
  'sent',
  'failed',
  'skipped',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'unsubscribed',
] as const;
export type RecipientOutcome = (typeof RECIPIENT_OUTCOMES)[number];
