import type { Reason } from '../emails/reasons.ts';

/**
 * Reasons that can be mended, so that a recipient who failed for one of them can be tried again: the contact would
 * still have it.
 */
export const MENDABLE_REASONS = [
  'provider_rejected',
  'expired',
  'template_error',
  'sender_not_verified',
  'limit_reached',
] as const satisfies Reason[];
export type MendableReason = (typeof MENDABLE_REASONS)[number];
