import { createRoute, z } from '@hono/zod-openapi';
import { listMailDays, type MailFigures } from '../../../db/events/mail-hours.ts';
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
import type { Scope } from '../../../rules/access/scopes.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { ok } from '../../http/responses.ts';
import { wholeNumber } from '../../http/schemas.ts';
import { scopes } from '../../http/security.ts';
import { AttentionItem, MailOverview, UpcomingHours } from './response.ts';
import { daysOf, rate, spanQuery } from './span.ts';

const tags = ['Analytics'];
/** A week is what one plans for, and a column an hour that can still be read. */
const HOURS_MAX = 168;

const overviewRoute = createRoute({
  method: 'get',
  path: '/analytics/overview',
  operationId: 'getMailOverview',
  tags,
  summary: 'What became of the mail of the last days',
  description:
    'Whole days by the clocks of the project (`timezone`) from that of `startDate` to that of `endDate`, those without mail as zeros; live mail only. Each figure is of the day on ' +
    'which it was recorded, so an open counts on the day of the open. Opens and clicks are those of people, the first of each mail. What has ' +
    'been counted stays, also when its contact or its events are deleted.',
  security: scopes('analytics:view'),
  request: { query: spanQuery },
  responses: { 200: ok(MailOverview) },
});

const attentionRoute = createRoute({
  method: 'get',
  path: '/analytics/attention',
  operationId: 'listAttention',
  tags,
  summary: 'What needs somebody',
  description:
    'A hold, domains whose records are gone, campaigns that the service has paused, what waits in the outbox for more than ' +
    `${LATE_SECONDS} s, workflows whose executions FAILED in the last ${FAILED_DAYS} days, webhook endpoints that are disabled or failing. ` +
    'Operators of the service are also told of periodic work of which no round has ended for three periods. What the caller has no scope to look at is left out.',
  security: scopes('analytics:view'),
  responses: { 200: ok(z.object({ data: z.array(AttentionItem) })) },
});

const upcomingRoute = createRoute({
  method: 'get',
  path: '/analytics/upcoming',
  operationId: 'listUpcomingHours',
  tags,
  summary: 'What comes, by hour',
  description:
    'From the running hour on, those without anything as zeros: campaigns that are scheduled, and pauses of executions (DELAY, the deadline of a ' +
    'WAIT_FOR_EVENT, a sending window) that were booked to end; who left meanwhile is among them.',
  security: scopes('analytics:view'),
  request: {
    query: z.object({ hours: wholeNumber({ min: 1, max: HOURS_MAX, default: 48, description: 'Hours from now' }) }),
  },
  responses: { 200: ok(UpcomingHours) },
});

/** Scope that a caller needs to see a kind. */
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

/** Registers the requests of a dashboard's first page. Each is cheap, however large the project is. */
export function analyticsOverviewRoutes(app: App, { reads, config }: Deps): void {
  app.openapi(overviewRoute, async (c) => {
    const { projectId } = c.var;
    const { timezone } = await getProject(reads, projectId);
    const days = await listMailDays(reads, { projectId, days: daysOf(c.req.valid('query'), timezone) });
    const totals = totalsOf(days);
    const of = (part: number) => rate(part, totals.sent);
    const { delivered, opened, clicked, bounced, complained } = totals;
    const rates = {
      delivered: of(delivered),
      opened: of(opened),
      clicked: of(clicked),
      bounced: of(bounced),
      complained: of(complained),
    };
    return c.json({ timezone, totals, rates, days }, 200);
  });

  app.openapi(attentionRoute, async (c) => {
    const { projectId, scopes: held, actor } = c.var;
    const kinds = PROJECT_ATTENTION_KINDS.filter((kind) => held.has(SCOPE_OF[kind]));
    const { operators } = config;
    const operates =
      actor.kind === 'user' && (await isOperator(reads, { userId: actor.id, email: actor.email, operators }));
    const items = [
      ...(operates ? await listLatePeriodicWork(reads) : []),
      ...(await listAttention(reads, { projectId, kinds })),
    ];
    return c.json({ data: items.map((item) => ({ ...item, since: item.since.toISOString() })) }, 200);
  });

  app.openapi(upcomingRoute, async (c) => {
    const { hours, campaigns } = await listUpcomingHours(reads, {
      projectId: c.var.projectId,
      ...c.req.valid('query'),
    });
    const answer = {
      hours: hours.map((hour) => ({ ...hour, at: hour.at.toISOString() })),
      campaigns: campaigns.map(({ scheduledAt, ...campaign }) => ({
        ...campaign,
        scheduledAt: scheduledAt.toISOString(),
      })),
    };
    return c.json(answer, 200);
  });
}

function totalsOf(days: readonly MailFigures[]): MailFigures {
  const sum = (figure: keyof MailFigures) => days.reduce((total, day) => total + day[figure], 0);
  return {
    sent: sum('sent'),
    delivered: sum('delivered'),
    opened: sum('opened'),
    clicked: sum('clicked'),
    bounced: sum('bounced'),
    complained: sum('complained'),
  };
}
