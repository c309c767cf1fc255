/**
 * What the stats of a campaign count its recipients by; `pending`, `sent`, `failed` and `skipped` are each of them
 * once.
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
