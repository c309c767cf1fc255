/** Why an address is on the suppression list (contract §3.7 Suppressions). */
export const SUPPRESSION_REASONS = ['hard_bounce', 'complaint', 'unsubscribe', 'manual'] as const;

/**
 * Why a recipient was refused, derived from the code and text of the refusal (contract §9.7 Refusals). `policy` and
 * `message` occur only in emails of earlier versions; such a refusal is `provider_rejected` today.
 */
const BOUNCE_CLASSES = ['dead_mailbox', 'mailbox_for_now', 'policy', 'message', 'routing', 'unknown'] as const;

export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];
export type BounceClass = (typeof BOUNCE_CLASSES)[number];

const PLAIN_REASONS = [
  'unsubscribed',
  'unsubscribed:topic',
  'unconfirmed',
  'frequency_capped',
  'cancelled',
  'left_audience',
  'sender_not_verified',
  'template_error',
  'provider_rejected',
  'expired',
  'step_deleted',
  'contact_deleted',
  'limit_reached',
  'no_phone',
  'sms_stopped',
  'not_mobile',
  'invalid_number',
  'exited_on_event',
  'too_late',
] as const;

/**
 * Why a message was not sent, or why an execution ended early. Emails, SMS, recipients and executions share this closed
 * list.
 */
export type Reason = (typeof PLAIN_REASONS)[number] | `suppressed:${SuppressionReason}` | `bounced:${BounceClass}`;

/** All reasons, for the OpenAPI document and the check of stored values. */
export const REASONS: readonly Reason[] = [
  ...PLAIN_REASONS,
  ...SUPPRESSION_REASONS.map((why): Reason => `suppressed:${why}`),
  ...BOUNCE_CLASSES.map((why): Reason => `bounced:${why}`),
];

export function toSuppressedReason(why: SuppressionReason): Reason {
  return `suppressed:${why}`;
}

export function toBouncedReason(why: BounceClass): Reason {
  return `bounced:${why}`;
}

/**
 * Tells whether an entry of the suppression list stops an email of this type: `hard_bounce` and `manual` stop all
 * email, and the other reasons only MARKETING.
 */
export function isSuppressionFor(why: SuppressionReason, type: 'TRANSACTIONAL' | 'MARKETING'): boolean {
  return why === 'hard_bounce' || why === 'manual' || type === 'MARKETING';
}
