import { z } from '@hono/zod-openapi';
import { EXAMPLE_ID, Id } from '../../http/schemas.ts';

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
