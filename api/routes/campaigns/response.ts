import { z } from '@hono/zod-openapi';
import type { Campaign } from '../../../db/campaigns/campaigns.ts';
import { findNextOpenings } from '../../../db/campaigns/chunk-clock.ts';
import type { StatsDetail } from '../../../db/campaigns/stats.ts';
import { countCampaignRecipients } from '../../../db/campaigns/stats.ts';
import type { Db } from '../../../db/connection.ts';
import type { Listed } from '../../../db/page-budget.ts';
import { AUDIENCE_TYPES, CAMPAIGN_STATUSES, PAUSED_REASONS } from '../../../rules/campaigns/campaign.ts';
import { type CampaignCounts, NO_COUNTS } from '../../../rules/campaigns/counts.ts';
import { countDelivered } from '../../../rules/emails/delivered.ts';
import { DeliveredBasis, EXAMPLE_ID, Id, Instant, numberedListFields, Slug, Truncated } from '../../http/schemas.ts';
import { EMAIL_TEXT_EXAMPLE, emailTextResponse } from '../email-text.ts';
import { timingResponse } from './timing.ts';
import {
  NO_VARIANTS_EXAMPLE,
  toVariantsResponse,
  variantResponseFields,
  variantStatsFields,
} from './variants-response.ts';

const COUNTERS = {
  totalRecipients: 100,
  pendingCount: 0,
  sentCount: 97,
  deliveredCount: 95,
  openedCount: 40,
  clickedCount: 12,
  bouncedCount: 1,
  complainedCount: 0,
  unsubscribedCount: 1,
  failedCount: 1,
  skippedCount: 2,
};

export const CAMPAIGN_EXAMPLE = {
  id: EXAMPLE_ID,
  name: 'November news',
  slug: 'november-news',
  description: null,
  ...EMAIL_TEXT_EXAMPLE,
  subject: 'News for {{firstName ?? you}}',
  type: 'ALL' as const,
  audienceType: 'ALL' as const,
  segmentId: null,
  topicId: null,
  filters: null,
  audienceFilter: null,
  audienceCondition: null,
  sendAtLocal: null,
  latePolicy: 'SEND' as const,
  nextOpening: null,
  status: 'SENT' as const,
  scheduledAt: null,
  scheduledFor: null,
  startedAt: '2026-01-01T12:00:00.000Z',
  sentAt: '2026-01-01T12:00:10.000Z',
  cancelledAt: null,
  pausedReason: null,
  ...NO_VARIANTS_EXAMPLE,
  ...COUNTERS,
  createdAt: '2026-01-01T11:00:00.000Z',
  updatedAt: '2026-01-01T12:00:10.000Z',
};

const Count = z.number().int();

const Audience = z.record(z.string(), z.unknown()).nullable();

const Counters = z.object({
  totalRecipients: Count,
  pendingCount: Count,
  sentCount: Count,
  deliveredCount: Count,
  openedCount: Count,
  clickedCount: Count,
  bouncedCount: Count,
  complainedCount: Count,
  unsubscribedCount: Count,
  failedCount: Count,
  skippedCount: Count,
});

/**
 * A campaign in a response. `type` repeats `audienceType`, and the three names of the condition have the same value
 * (contract §6).
 */
export const CampaignRecord = z
  .object({
    id: Id,
    name: z.string(),
    slug: Slug,
    description: z.string().nullable(),
    ...emailTextResponse,
    type: z.enum(AUDIENCE_TYPES),
    audienceType: z.enum(AUDIENCE_TYPES),
    segmentId: Id.nullable(),
    topicId: Id.nullable(),
    filters: Audience,
    audienceFilter: Audience,
    audienceCondition: Audience,
    ...timingResponse,
    status: z.enum(CAMPAIGN_STATUSES),
    scheduledAt: Instant.nullable(),
    scheduledFor: Instant.nullable(),
    startedAt: Instant.nullable(),
    sentAt: Instant.nullable(),
    cancelledAt: Instant.nullable(),
    pausedReason: z.enum(PAUSED_REASONS).nullable().openapi({
      description:
        'Why the campaign is PAUSED. `requested`: a user paused it. `template_timeout`: rendering the content took too long for 20 recipients in a row. `database_restored`: the database was restored from a backup, so some recipients may already have got the email.',
    }),
    ...variantResponseFields,
    ...Counters.shape,
    createdAt: Instant,
    updatedAt: Instant,
  })
  .openapi('Campaign', { example: CAMPAIGN_EXAMPLE });

/** A campaign in a list. If `truncated` is set, body, conditions and variants are omitted. */
export const ListedCampaign = CampaignRecord.partial({
  body: true,
  filters: true,
  audienceFilter: true,
  audienceCondition: true,
  variants: true,
})
  .extend({ truncated: Truncated })
  .openapi('ListedCampaign', { example: CAMPAIGN_EXAMPLE });

const SeriesHour = z.object({ at: Instant, sent: Count, delivered: Count, opened: Count, clicked: Count });
const MachineHour = z.object({ at: Instant, opens: Count, clicks: Count });

export const CampaignStats = z
  .object({
    total: Count,
    pending: Count,
    sent: Count,
    delivered: Count,
    deliveredBasis: DeliveredBasis,
    opened: Count,
    clicked: Count,
    bounced: Count,
    complained: Count,
    unsubscribed: Count,
    failed: Count,
    skipped: Count,
    openRate: z.number().openapi({ description: 'Percentage of sent emails' }),
    clickRate: z.number().openapi({ description: 'Percentage of sent emails' }),
    bounceRate: z.number().openapi({ description: 'Percentage of attempted emails (`sent + failed`)' }),
    deliveryRate: z.number().openapi({ description: 'Percentage of sent emails' }),
    byReason: z.record(z.string(), Count).openapi({
      description: 'Number of recipients by the reason why their email was not sent or not delivered',
    }),
    machineOpens: Count.openapi({
      description: 'Opens by prefetchers and scanners. They do not make an email OPENED.',
    }),
    machineClicks: Count.openapi({ description: 'Clicks by scanners. They do not make an email CLICKED.' }),
    series: z.array(SeriesHour).openapi({
      description:
        'Counts per hour (UTC) for the first 72 hours, starting with the hour in which the campaign started. Empty before the start.',
    }),
    machineSeries: z.array(MachineHour).openapi({ description: 'Automated opens and clicks in the same hours' }),
    ...variantStatsFields,
  })
  .openapi('CampaignStats', {
    description: '`pending + sent + failed + skipped = total` at every moment.',
    example: {
      total: 100,
      pending: 0,
      sent: 97,
      delivered: 96,
      deliveredBasis: 'sent_minus_bounced',
      opened: 40,
      clicked: 12,
      bounced: 1,
      complained: 0,
      unsubscribed: 1,
      failed: 1,
      skipped: 2,
      openRate: 41.24,
      clickRate: 12.37,
      bounceRate: 1.02,
      deliveryRate: 98.97,
      byReason: { unsubscribed: 2, 'bounced:dead_mailbox': 1, provider_rejected: 1 },
      machineOpens: 7,
      machineClicks: 3,
      series: [{ at: '2026-01-01T12:00:00.000Z', sent: 97, delivered: 95, opened: 40, clicked: 12 }],
      machineSeries: [{ at: '2026-01-01T12:00:00.000Z', opens: 7, clicks: 3 }],
      variants: null,
      comparison: null,
    },
  });

export const CampaignList = z
  .object({ campaigns: z.array(ListedCampaign), ...numberedListFields })
  .openapi('CampaignList', {
    example: {
      campaigns: [CAMPAIGN_EXAMPLE],
      page: 1,
      pageSize: 20,
      total: 1,
      totalPages: 1,
      cursor: null,
      hasMore: false,
    },
  });

export const CampaignDone = z
  .object({ success: z.literal(true), data: CampaignRecord, message: z.string().optional() })
  .openapi('CampaignDone', {
    example: { success: true, data: CAMPAIGN_EXAMPLE, message: 'The campaign is being sent.' },
  });

export const TestSent = z
  .object({ success: z.literal(true), data: z.object({ emailId: Id, email: z.string() }), message: z.string() })
  .openapi('CampaignTestSent', {
    example: {
      success: true,
      data: { emailId: CAMPAIGN_EXAMPLE.id, email: 'ada@example.com' },
      message: 'A test email is on its way to ada@example.com.',
    },
  });

export function toCampaignResponse(
  { timing, ...campaign }: Campaign,
  counts: CampaignCounts = NO_COUNTS,
  nextOpening: Date | null = null,
) {
  const {
    audienceFilter,
    audienceType,
    scheduledAt,
    startedAt,
    sentAt,
    cancelledAt,
    pausedReason,
    createdAt,
    updatedAt,
  } = campaign;
  const condition = audienceFilter === null ? null : { ...audienceFilter };
  return {
    ...campaign,
    type: audienceType,
    filters: condition,
    audienceFilter: condition,
    audienceCondition: condition,
    ...timing,
    nextOpening: formatInstant(nextOpening),
    scheduledAt: formatInstant(scheduledAt),
    scheduledFor: timing.sendAtLocal === null ? formatInstant(scheduledAt) : null,
    startedAt: formatInstant(startedAt),
    sentAt: formatInstant(sentAt),
    cancelledAt: formatInstant(cancelledAt),
    pausedReason,
    ...toVariantsResponse(campaign),
    ...toCounters(counts),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

/** Returns a campaign with its current counters. */
export async function readCampaignResponse(db: Db, { projectId, campaign }: { projectId: string; campaign: Campaign }) {
  const { id } = campaign;
  const [counts, openings] = await Promise.all([
    countCampaignRecipients(db, { projectId, id }),
    findNextOpenings(db, { projectId, ids: [id] }),
  ]);
  return toCampaignResponse(campaign, counts, openings.get(id));
}

export function toListedResponse(
  { truncated, ...campaign }: Listed<Campaign>,
  counts?: CampaignCounts,
  nextOpening?: Date,
) {
  const { body, filters, audienceFilter, audienceCondition, variants, ...response } = toCampaignResponse(
    campaign,
    counts,
    nextOpening,
  );
  if (truncated) return { ...response, truncated: true as const };
  return { ...response, body, filters, audienceFilter, audienceCondition, variants };
}

export function toStatsResponse(
  counts: CampaignCounts,
  { series, machineSeries, ...detail }: StatsDetail,
  isReported: boolean,
) {
  const { sent, opened, clicked, bounced, failed } = counts;
  const delivered = countDelivered(counts, isReported);
  return {
    ...counts,
    delivered,
    deliveredBasis: isReported ? ('reported' as const) : ('sent_minus_bounced' as const),
    openRate: toPercentage(opened, sent),
    clickRate: toPercentage(clicked, sent),
    bounceRate: toPercentage(bounced, sent + failed),
    deliveryRate: toPercentage(delivered, sent),
    ...detail,
    series: series.map(({ at, ...hour }) => ({ at: at.toISOString(), ...hour })),
    machineSeries: machineSeries.map(({ at, ...hour }) => ({ at: at.toISOString(), ...hour })),
  };
}

function toCounters(counts: CampaignCounts) {
  return {
    totalRecipients: counts.total,
    pendingCount: counts.pending,
    sentCount: counts.sent,
    deliveredCount: counts.delivered,
    openedCount: counts.opened,
    clickedCount: counts.clicked,
    bouncedCount: counts.bounced,
    complainedCount: counts.complained,
    unsubscribedCount: counts.unsubscribed,
    failedCount: counts.failed,
    skippedCount: counts.skipped,
  };
}

/** Returns `part` as a percentage of `whole`, with two decimals. Returns 0 if `whole` is 0. */
export function toPercentage(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100;
}

function formatInstant(at: Date | null): string | null {
  return at?.toISOString() ?? null;
}
