import type { Reason } from '../emails/reasons.ts';

/**
 * Reasons of failed and skipped recipients that a user can retry: the cause can be fixed, and the contact may still get
 * the email.
 */
export const RETRYABLE_REASONS = [
  'provider_rejected',
  'expired',
  'template_error',
  'sender_not_verified',
  'limit_reached',
] as const satisfies Reason[];
export type RetryableReason = (typeof RETRYABLE_REASONS)[number];
