/**
 * The outcomes of recipients that a campaign's statistics count. Each recipient has exactly one of `pending`, `sent`,
 * `failed` and `skipped`, and any number of the other outcomes.
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
