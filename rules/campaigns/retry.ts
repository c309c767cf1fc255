import type { Reason } from '../emails/reasons.ts';

/** Reasons that can be fixed, so that the failed recipient can be retried: the contact would still get the email. */
export const RETRYABLE_REASONS = [
  'provider_rejected',
  'expired',
  'template_error',
  'sender_not_verified',
  'limit_reached',
] as const satisfies Reason[];
export type RetryableReason = (typeof RETRYABLE_REASONS)[number];
