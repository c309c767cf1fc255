import { createRoute, z } from '@hono/zod-openapi';
import { countCampaigns, listDayCounts, listTopCampaigns, listTopEvents } from '../../../db/events/analytics.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { jsonResponse } from '../../http/responses.ts';
import { wholeNumber } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { DayCounts, TopCampaign } from './response.ts';
import { parseSpan, spanQuery, toPercentage } from './span.ts';

const tags = ['Analytics'];

const topQuery = spanQuery.extend({ limit: wholeNumber({ min: 1, max: 100, default: 10, description: 'Records' }) });

const timeseriesRoute = createRoute({
  method: 'get',
  path: '/analytics/timeseries',
  operationId: 'getEmailTimeseries',
  tags,
  summary: 'Count emails by day',
  description:
    'Returns one entry for each UTC day of the time span. Days without email have zero counts. Only live email is counted. Each event counts on the day on which it was recorded, as in `/analytics/overview`. Counts do not change when a contact or its events are deleted.',
  security: allowScopes('analytics:view'),
  request: { query: spanQuery },
  responses: { 200: jsonResponse(z.array(DayCounts)) },
});

const topCampaignsRoute = createRoute({
  method: 'get',
  path: '/analytics/top-campaigns',
  operationId: 'listTopCampaigns',
  tags,
  summary: 'List the most opened campaigns',
  description: 'Lists campaigns that started in the time span, the one with the most opens first.',
  security: allowScopes('analytics:view'),
  request: { query: topQuery },
  responses: { 200: jsonResponse(z.array(TopCampaign)) },
});

const campaignStatsRoute = createRoute({
  method: 'get',
  path: '/analytics/campaign-stats',
  operationId: 'getCampaignTotals',
  tags,
  summary: 'Get campaign statistics',
  description:
    'Counts the campaigns that were created in the time span: all, active (SCHEDULED, SENDING or PAUSED) and completed (SENT). Rates are percentages of the emails of campaigns that started in the time span.',
  security: allowScopes('analytics:view'),
  request: { query: spanQuery },
  responses: {
    200: jsonResponse(
      z
        .object({
          total: z.number().int(),
          active: z.number().int(),
          completed: z.number().int(),
          averageOpenRate: z.number(),
          averageClickRate: z.number(),
        })
        .openapi('CampaignTotals', {
          example: { total: 5, active: 1, completed: 3, averageOpenRate: 38.5, averageClickRate: 9.1 },
        }),
    ),
  },
});

const topEventsRoute = createRoute({
  method: 'get',
  path: '/analytics/top-events',
  operationId: 'listTopEvents',
  tags,
  summary: 'List the most frequent events',
  description: '`trend` is the change in percent compared with the previous time span of the same length.',
  security: allowScopes('analytics:view'),
  request: { query: topQuery },
  responses: {
    200: jsonResponse(
      z.array(
        z
          .object({ name: z.string(), count: z.number().int(), trend: z.number() })
          .openapi('TopEvent', { example: { name: 'signup', count: 42, trend: 12.5 } }),
      ),
    ),
  },
});

export function registerAnalyticsRoutes(app: App, { reads }: Deps): void {
  app.openapi(timeseriesRoute, async (c) =>
    c.json(await listDayCounts(reads, { projectId: c.var.projectId, ...parseSpan(c.req.valid('query')) }), 200),
  );

  app.openapi(topCampaignsRoute, async (c) => {
    const { limit, ...query } = c.req.valid('query');
    const campaigns = await listTopCampaigns(reads, { projectId: c.var.projectId, ...parseSpan(query), limit });
    const response = campaigns.map((campaign) => ({
      ...campaign,
      openRate: toPercentage(campaign.openedCount, campaign.sentCount),
      clickRate: toPercentage(campaign.clickedCount, campaign.sentCount),
    }));
    return c.json(response, 200);
  });

  app.openapi(campaignStatsRoute, async (c) => {
    const counts = await countCampaigns(reads, { projectId: c.var.projectId, ...parseSpan(c.req.valid('query')) });
    const { total, active, completed, sent, opened, clicked } = counts;
    const rates = { averageOpenRate: toPercentage(opened, sent), averageClickRate: toPercentage(clicked, sent) };
    return c.json({ total, active, completed, ...rates }, 200);
  });

  app.openapi(topEventsRoute, async (c) => {
    const { limit, ...query } = c.req.valid('query');
    return c.json(await listTopEvents(reads, { projectId: c.var.projectId, ...parseSpan(query), limit }), 200);
  });
}
