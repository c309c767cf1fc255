import { z } from '@hono/zod-openapi';
import { ATTENTION_COUNT_MAX, ATTENTION_KINDS } from '../../../db/projects/attention.ts';
import { DeliveredBasis, EXAMPLE_ID, Id, Instant } from '../../http/schemas.ts';

export const DayCounts = z
  .object({
    date: z.iso.date(),
    emails: z.number().int(),
    delivered: z.number().int(),
    opens: z.number().int(),
    clicks: z.number().int(),
    bounces: z.number().int(),
    complaints: z.number().int(),
  })
  .openapi('DayCounts', {
    example: { date: '2026-01-01', emails: 100, delivered: 98, opens: 40, clicks: 10, bounces: 2, complaints: 0 },
  });

export const TopCampaign = z
  .object({
    id: Id,
    name: z.string(),
    subject: z.string(),
    sentCount: z.number().int(),
    openedCount: z.number().int(),
    clickedCount: z.number().int(),
    openRate: z.number(),
    clickRate: z.number(),
  })
  .openapi('TopCampaign', {
    example: {
      id: EXAMPLE_ID,
      name: 'Spring',
      subject: 'It is spring',
      sentCount: 100,
      openedCount: 40,
      clickedCount: 10,
      openRate: 40,
      clickRate: 10,
    },
  });

export const emailFigures = {
  sent: z.number().int(),
  delivered: z.number().int(),
  opened: z.number().int().openapi({ description: 'First opens by humans' }),
  clicked: z.number().int().openapi({ description: 'First clicks by humans' }),
  bounced: z.number().int(),
  complained: z.number().int(),
};
const figuresExample = { sent: 100, delivered: 98, opened: 40, clicked: 10, bounced: 2, complained: 0 };

const MailRates = z
  .object({
    delivered: z.number(),
    opened: z.number(),
    clicked: z.number(),
    bounced: z.number(),
    complained: z.number(),
  })
  .openapi('MailRates', { description: 'Percentages of the emails sent in the time span' });
const MailTotals = z.object(emailFigures).openapi('MailTotals');
const MailDay = z.object({ date: z.iso.date(), ...emailFigures }).openapi('MailDay');

export const EmailOverview = z
  .object({
    timezone: z.string().openapi({
      description:
        "Time zone of the days, which is the project's `timezone`. Counts are stored per hour in UTC. If midnight in this zone is not at a full hour of UTC, the hour around midnight counts for the day in which it starts.",
    }),
    deliveredBasis: DeliveredBasis,
    totals: MailTotals,
    rates: MailRates,
    days: z.array(MailDay),
    previous: z
      .object({
        totals: MailTotals,
        rates: MailRates,
        days: z.array(MailDay),
      })
      .openapi({ description: 'The same values for the time span of the same length just before' }),
  })
  .openapi('MailOverview', {
    example: {
      timezone: 'Europe/Berlin',
      deliveredBasis: 'sent_minus_bounced',
      totals: figuresExample,
      rates: { delivered: 98, opened: 40, clicked: 10, bounced: 2, complained: 0 },
      days: [{ date: '2026-01-02', ...figuresExample }],
      previous: {
        totals: figuresExample,
        rates: { delivered: 98, opened: 40, clicked: 10, bounced: 2, complained: 0 },
        days: [{ date: '2026-01-01', ...figuresExample }],
      },
    },
  });

export const AttentionItem = z
  .object({
    kind: z.enum(ATTENTION_KINDS),
    id: Id.nullable().openapi({
      description: 'Id of the domain, campaign, workflow or endpoint. Null for other problems.',
    }),
    name: z.string().nullable(),
    since: Instant,
    count: z
      .number()
      .int()
      .openapi({
        description: `Number of executions or outbox rows, counted up to ${ATTENTION_COUNT_MAX}; otherwise 1`,
      }),
    detail: z
      .string()
      .nullable()
      .openapi({ description: 'Reason for the hold, the pause or the disabled endpoint, or the last error' }),
  })
  .openapi('AttentionItem', {
    example: {
      kind: 'executions_failed',
      id: EXAMPLE_ID,
      name: 'Welcome',
      since: '2026-01-01T12:00:00.000Z',
      count: 3,
      detail: 'template_error',
    },
  });

export const UpcomingHours = z
  .object({
    hours: z.array(
      z.object({
        at: Instant,
        campaigns: z.number().int(),
        delays: z.number().int(),
        lastDelayAt: Instant.nullable().openapi({ description: 'End of the last of these delays' }),
      }),
    ),
    campaigns: z.array(z.object({ id: Id, name: z.string(), scheduledAt: Instant })),
    sendRatePerSecond: z.number().int().nullable(),
  })
  .openapi('UpcomingHours', {
    example: {
      hours: [{ at: '2026-01-01T12:00:00.000Z', campaigns: 1, delays: 250, lastDelayAt: '2026-01-01T12:00:05.000Z' }],
      campaigns: [{ id: EXAMPLE_ID, name: 'Spring', scheduledAt: '2026-01-01T12:30:00.000Z' }],
      sendRatePerSecond: 50,
    },
  });
