import { createRoute, z } from '@hono/zod-openapi';
import {
  ACTIVITY_TOTAL_MAX,
  type ActivityItem,
  countActivity,
  countRecentActivity,
  listActivity,
  listUpcoming,
  type UpcomingActivity,
} from '../../../db/events/activity.ts';
import { truncateLists } from '../../../db/page-budget.ts';
import { ACTIVITY_TYPES, type ActivityType } from '../../../rules/events/activity.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { jsonResponse } from '../../http/responses.ts';
import { Cursor, Id, InstantInput, TruncatedLists, wholeNumber } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { parseSpan, spanQuery, toPercentage } from '../analytics/span.ts';
import { Types } from './input.ts';
import { Activity, Upcoming } from './response.ts';

const tags = ['Activity'];
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

const listRoute = createRoute({
  method: 'get',
  path: '/activity',
  operationId: 'listActivity',
  tags,
  summary: 'List recent activity',
  description: 'Events, emails, SMS, campaigns, workflows and API keys, newest first.',
  security: allowScopes('analytics:view'),
  request: {
    query: z.object({
      limit: wholeNumber({ min: 1, max: 100, default: 50, description: 'Records per page' }),
      cursor: Cursor.optional(),
      types: Types.optional(),
      contactId: Id.optional(),
      startDate: InstantInput.optional(),
      endDate: InstantInput.optional(),
    }),
  },
  responses: {
    200: jsonResponse(
      z
        .object({
          data: z.array(Activity),
          activities: z.array(Activity),
          cursor: z.string().nullable(),
          hasMore: z.boolean(),
          total: z
            .number()
            .int()
            .openapi({
              description: `Number of items, counted up to ${ACTIVITY_TOTAL_MAX}, on the first page; 0 on later pages.`,
            }),
        })
        .openapi('ActivityList', { example: { data: [], activities: [], cursor: null, hasMore: false, total: 0 } }),
    ),
  },
});

const statsRoute = createRoute({
  method: 'get',
  path: '/activity/stats',
  operationId: 'getActivityStats',
  tags,
  summary: 'Get activity statistics',
  description:
    'Totals and rates of a time span, by default the last 30 days. Rates are percentages of the sent emails. Test emails are not counted.',
  security: allowScopes('analytics:view'),
  request: { query: spanQuery },
  responses: {
    200: jsonResponse(
      z
        .object({
          totalEvents: z.number().int(),
          totalEmailsSent: z.number().int(),
          totalEmailsOpened: z.number().int(),
          totalEmailsClicked: z.number().int(),
          totalWorkflowsStarted: z.number().int(),
          openRate: z.number(),
          clickRate: z.number(),
        })
        .openapi('ActivityStats', {
          example: {
            totalEvents: 120,
            totalEmailsSent: 100,
            totalEmailsOpened: 40,
            totalEmailsClicked: 10,
            totalWorkflowsStarted: 30,
            openRate: 40,
            clickRate: 10,
          },
        }),
    ),
  },
});

const recentRoute = createRoute({
  method: 'get',
  path: '/activity/recent-count',
  operationId: 'countRecentActivity',
  tags,
  summary: 'Count recent activity',
  description: 'Returns how many items were added to the feed in the last `minutes`.',
  security: allowScopes('analytics:view'),
  request: {
    query: z.object({
      minutes: wholeNumber({ min: 1, max: 1_440, default: 5, description: 'Length of the period in minutes' }),
    }),
  },
  responses: {
    200: jsonResponse(
      z
        .object({ count: z.number().int(), minutes: z.number().int() })
        .openapi('RecentActivityCount', { example: { count: 12, minutes: 5 } }),
    ),
  },
});

const typesRoute = createRoute({
  method: 'get',
  path: '/activity/types',
  operationId: 'listActivityTypes',
  tags,
  summary: 'List activity types',
  description: 'All types that the feed can contain.',
  security: allowScopes('analytics:view'),
  responses: {
    200: jsonResponse(
      z.object({ types: z.array(z.string()) }).openapi('ActivityTypes', { example: { types: ['email.sent'] } }),
    ),
  },
});

const upcomingRoute = createRoute({
  method: 'get',
  path: '/activity/upcoming',
  operationId: 'listUpcomingActivity',
  tags,
  summary: 'List upcoming activity',
  description: 'Scheduled campaigns, and pauses of executions that end soon. The earliest comes first.',
  security: allowScopes('analytics:view'),
  request: {
    query: z.object({
      limit: wholeNumber({ min: 1, max: 100, default: 50, description: 'Maximum number of records' }),
      daysAhead: wholeNumber({ min: 1, max: 365, default: 30, description: 'Number of days to look ahead' }),
    }),
  },
  responses: {
    200: jsonResponse(
      z
        .object({ activities: z.array(Upcoming), truncated: TruncatedLists })
        .openapi('UpcomingActivities', { example: { activities: [] } }),
    ),
  },
});

export function registerActivityRoutes(app: App, { reads }: Deps): void {
  app.openapi(listRoute, async (c) => {
    const query = c.req.valid('query');
    const { items, ...page } = await listActivity(reads, {
      projectId: c.var.projectId,
      ...query,
      types: query.types as ActivityType[] | undefined,
    });
    const data = items.map(withIsoTimestamp);
    return c.json({ data, activities: data, ...page }, 200);
  });

  app.openapi(statsRoute, async (c) => {
    const totals = await countActivity(reads, { projectId: c.var.projectId, ...parseSpan(c.req.valid('query')) });
    const openRate = toPercentage(totals.totalEmailsOpened, totals.totalEmailsSent);
    const clickRate = toPercentage(totals.totalEmailsClicked, totals.totalEmailsSent);
    return c.json({ ...totals, openRate, clickRate }, 200);
  });

  app.openapi(recentRoute, async (c) => {
    const { minutes } = c.req.valid('query');
    const since = new Date(Date.now() - minutes * MINUTE_MS);
    return c.json({ count: await countRecentActivity(reads, { projectId: c.var.projectId, since }), minutes }, 200);
  });

  app.openapi(typesRoute, (c) => c.json({ types: [...ACTIVITY_TYPES] }, 200));

  app.openapi(upcomingRoute, async (c) => {
    const { limit, daysAhead } = c.req.valid('query');
    const until = new Date(Date.now() + daysAhead * DAY_MS);
    const items = await listUpcoming(reads, { projectId: c.var.projectId, until, limit });
    return c.json(truncateLists({ activities: items.map(withIsoTimestamp) }), 200);
  });
}

function withIsoTimestamp<T extends ActivityItem | UpcomingActivity>(
  item: T,
): Omit<T, 'timestamp'> & { timestamp: string } {
  return { ...item, timestamp: item.timestamp.toISOString() };
}
