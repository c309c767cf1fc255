/**
 * Outcomes by which statistics count recipients of a campaign. `pending`, `sent`, `failed` and `skipped` together
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
