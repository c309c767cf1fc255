import { createRoute, z } from '@hono/zod-openapi';
import { type EmailDay, type EmailFigures, listEmailDays } from '../../../db/events/email-hours.ts';
import { listUpcomingHours } from '../../../db/events/upcoming.ts';
import { isOperator } from '../../../db/operator/operators.ts';
import {
  FAILED_DAYS,
  LATE_SECONDS,
  listAttention,
  listLatePeriodicWork,
  PROJECT_ATTENTION_KINDS,
  type ProjectAttentionKind,
} from '../../../db/projects/attention.ts';
import { getProject } from '../../../db/projects/projects.ts';
import { getSendRate } from '../../../db/sending/send-rate.ts';
import type { Scope } from '../../../rules/access/scopes.ts';
import { countDelivered } from '../../../rules/emails/delivered.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { jsonResponse } from '../../http/responses.ts';
import { wholeNumber } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { AttentionItem, EmailOverview, UpcomingHours } from './response.ts';
import { listDays, listDaysBefore, spanQuery, toPercentage } from './span.ts';

const tags = ['Analytics'];
/** One week, because users plan for a week, and a chart with one column per hour is still readable. */
const HOURS_MAX = 168;

const overviewRoute = createRoute({
  method: 'get',
  path: '/analytics/overview',
  operationId: 'getMailOverview',
  tags,
  summary: 'Get email statistics by day',
  description:
    'Returns whole days in the time zone of the project (`timezone`), from `startDate` to `endDate`. Days without email have zero counts. Only live email is counted. Each event counts on the day on which it was recorded, so an open counts on the day of the open. For each email, only the first open and the first click by a human count. Counts do not change when a contact or its events are deleted. `previous` has the same counts for the time span of the same length just before.',
  security: allowScopes('analytics:view'),
  request: { query: spanQuery },
  responses: { 200: jsonResponse(EmailOverview) },
});

const attentionRoute = createRoute({
  method: 'get',
  path: '/analytics/attention',
  operationId: 'listAttention',
  tags,
  summary: 'List problems that need attention',
  description: `Lists a hold, paused routes, domains with missing records, campaigns that the service has paused, and work that waits in the outbox for more than ${LATE_SECONDS} s. Also lists workflows with FAILED executions in the last ${FAILED_DAYS} days, and webhook endpoints that are disabled or failing. Operators of the service also see periodic work that has not finished a round for three periods. Problems that the caller's scopes do not allow to read are omitted.`,
  security: allowScopes('analytics:view'),
  responses: { 200: jsonResponse(z.object({ data: z.array(AttentionItem) })) },
});

const upcomingRoute = createRoute({
  method: 'get',
  path: '/analytics/upcoming',
  operationId: 'listUpcomingHours',
  tags,
  summary: 'List upcoming activity by hour',
  description:
    'Starts with the current hour. Hours without activity have zero counts. Counts campaigns that are scheduled for the hour, and pauses of executions that end in the hour: a DELAY, the timeout of a WAIT_FOR_EVENT, or the wait for a sending window. A pause still counts if its execution has ended in the meantime.',
  security: allowScopes('analytics:view'),
  request: {
    query: z.object({ hours: wholeNumber({ min: 1, max: HOURS_MAX, default: 48, description: 'Hours from now' }) }),
  },
  responses: { 200: jsonResponse(UpcomingHours) },
});

/** The scope that a caller needs to see each kind of problem. */
const SCOPE_OF: Record<ProjectAttentionKind, Scope> = {
  project_held: 'analytics:view',
  route_paused: 'analytics:view',
  domain_broken: 'domains:view',
  campaign_paused: 'campaigns:view',
  outbox_late: 'analytics:view',
  executions_failed: 'workflows:view',
  endpoint_disabled: 'workflows:edit',
  endpoint_degraded: 'workflows:edit',
};

/** Registers the operations of the dashboard's first page. */
export function registerAnalyticsOverviewRoutes(app: App, { reads, config }: Deps): void {
  app.openapi(overviewRoute, async (c) => {
    const { projectId } = c.var;
    const { timezone } = await getProject(reads, projectId);
    const requestedDays = listDays(c.req.valid('query'), timezone);
    const previousDays = listDaysBefore(requestedDays, timezone);
    const days = await listEmailDays(reads, { projectId, days: [...previousDays, ...requestedDays] });
    const isReported = config.email.reportsDeliveries;
    const response = {
      timezone,
      deliveredBasis: isReported ? ('reported' as const) : ('sent_minus_bounced' as const),
      ...toSummary(days.slice(previousDays.length), isReported),
      previous: toSummary(days.slice(0, previousDays.length), isReported),
    };
    return c.json(response, 200);
  });

  app.openapi(attentionRoute, async (c) => {
    const { projectId, scopes: callerScopes, actor } = c.var;
    const kinds = PROJECT_ATTENTION_KINDS.filter((kind) => callerScopes.has(SCOPE_OF[kind]));
    const { operators } = config;
    const callerIsOperator =
      actor.kind === 'user' && (await isOperator(reads, { userId: actor.id, email: actor.email, operators }));
    const items = [
      ...(callerIsOperator ? await listLatePeriodicWork(reads) : []),
      ...(await listAttention(reads, { projectId, kinds })),
    ];
    return c.json({ data: items.map((item) => ({ ...item, since: item.since.toISOString() })) }, 200);
  });

  app.openapi(upcomingRoute, async (c) => {
    const { projectId } = c.var;
    const { hours, campaigns } = await listUpcomingHours(reads, { projectId, ...c.req.valid('query') });
    const rate = await getSendRate(reads, { projectId, installationRate: config.sendRatePerSecond });
    const response = {
      hours: hours.map(({ at, lastDelayAt, ...hour }) => ({
        ...hour,
        at: at.toISOString(),
        lastDelayAt: lastDelayAt?.toISOString() ?? null,
      })),
      campaigns: campaigns.map(({ scheduledAt, ...campaign }) => ({
        ...campaign,
        scheduledAt: scheduledAt.toISOString(),
      })),
      sendRatePerSecond: rate === 0 ? null : rate,
    };
    return c.json(response, 200);
  });
}

/**
 * Returns the totals, the rates and the days of a time span. If the provider does not report deliveries, the number of
 * delivered emails is the number of sent emails minus the number of bounced emails.
 */
function toSummary(days: readonly EmailDay[], isReported: boolean) {
  const withDelivered = <Counts extends EmailFigures>(counts: Counts): Counts => ({
    ...counts,
    delivered: countDelivered(counts, isReported),
  });
  const totals = withDelivered(sumFigures(days));
  const percentOfSent = (part: number) => toPercentage(part, totals.sent);
  const rates = {
    delivered: percentOfSent(totals.delivered),
    opened: percentOfSent(totals.opened),
    clicked: percentOfSent(totals.clicked),
    bounced: percentOfSent(totals.bounced),
    complained: percentOfSent(totals.complained),
  };
  return { totals, rates, days: days.map(withDelivered) };
}

function sumFigures(days: readonly EmailFigures[]): EmailFigures {
  const sum = (figure: keyof EmailFigures) => days.reduce((total, day) => total + day[figure], 0);
  return {
    sent: sum('sent'),
    delivered: sum('delivered'),
    opened: sum('opened'),
    clicked: sum('clicked'),
    bounced: sum('bounced'),
    complained: sum('complained'),
  };
}
