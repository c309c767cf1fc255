import type { ResponseOf } from '../../api/client.ts';

export type Campaign = ResponseOf<'getCampaign'>;
export type CampaignStatus = Campaign['status'];
export type Stats = ResponseOf<'getCampaignStats'>;
export type Review = ResponseOf<'reviewCampaign'>;

/** Statuses to filter the list by. */
export const CAMPAIGN_STATUSES = ['DRAFT', 'SCHEDULED', 'SENDING', 'PAUSED', 'SENT', 'CANCELLED'] as const;

export const STEPS = ['content', 'audience', 'review', 'when'] as const;
export type CampaignEditorStep = (typeof STEPS)[number];

/** The names of the recipient counts in the statistics. */
export const OUTCOMES = [
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
export type Outcome = (typeof OUTCOMES)[number];

/** Reasons of recipients that `retry` sends to again. */
export const RETRYABLE = [
  'provider_rejected',
  'expired',
  'template_error',
  'sender_not_verified',
  'limit_reached',
] as const;
export type Retryable = (typeof RETRYABLE)[number];

/** Operations whose responses become stale when a campaign changes. */
export const CAMPAIGN_OPERATIONS = [
  'listCampaigns',
  'getCampaign',
  'getCampaignStats',
  'reviewCampaign',
  'listCampaignLinks',
  'listCampaignRecipients',
] as const;

/** Returns whether statistics still move because emails are being sent. */
export function isSending(status: CampaignStatus): boolean {
  return status === 'SENDING';
}
