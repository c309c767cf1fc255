import { createRoute, z } from '@hono/zod-openapi';
import { listAllRoutePauses, type RoutePause, resumeRoute } from '../../../db/sending/route-pauses.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { jsonResponse } from '../../http/responses.ts';
import { EXAMPLE_ID, Id, IdParams, Instant } from '../../http/schemas.ts';
import { allowSession } from '../../http/security.ts';
import { requireOperator } from './access.ts';

const RoutePauses = z
  .object({
    data: z.array(
      z.object({
        id: Id,
        projectId: Id.nullable().openapi({ description: 'Null if the pause affects all projects' }),
        projectName: z.string().nullable(),
        stage: z.string().openapi({ description: 'The command that was refused, such as `rcpt`' }),
        reply: z.string().openapi({ description: "The mail server's reply, without addresses" }),
        since: Instant,
        nextProbeAt: Instant.openapi({
          description: 'When the service next tests whether the server accepts email again',
        }),
      }),
    ),
  })
  .openapi('RoutePauses', {
    example: {
      data: [
        {
          id: EXAMPLE_ID,
          projectId: null,
          projectName: null,
          stage: 'auth',
          reply: '535 5.7.8 Authentication failed',
          since: '2026-01-01T12:00:00.000Z',
          nextProbeAt: '2026-01-01T12:01:00.000Z',
        },
      ],
    },
  });

const listRoute = createRoute({
  method: 'get',
  path: '/operator/route-pauses',
  operationId: 'listRoutePauses',
  insteadOfKey: 'Run npm run operator on the host of the service',
  tags: ['Operator'],
  summary: 'List paused routes',
  description:
    'Lists paused routes. A route (a mail server or provider with its settings) is paused after it refused ten recipients in a row because of the sender. Emails for a paused route wait, and their contacts are not changed.',
  security: allowSession(),
  responses: { 200: jsonResponse(RoutePauses) },
});

const resumeRouteRoute = createRoute({
  method: 'post',
  path: '/operator/route-pauses/{id}/resume',
  operationId: 'resumeRoute',
  insteadOfKey: 'Run npm run operator on the host of the service',
  tags: ['Operator'],
  summary: 'End the pause of a route',
  description:
    'Ends the pause, so that the next emails use the route. If the route refuses ten of these emails, it is paused again.',
  security: allowSession(),
  request: { params: IdParams },
  responses: { 200: jsonResponse(RoutePauses) },
});

export function registerOperatorRoutePauseRoutes(app: App, deps: Deps): void {
  const { db, reads } = deps;

  app.openapi(listRoute, async (c) => {
    await requireOperator(c, deps);
    return c.json({ data: (await listAllRoutePauses(reads)).map(toPauseResponse) }, 200);
  });

  app.openapi(resumeRouteRoute, async (c) => {
    await requireOperator(c, deps);
    await resumeRoute(db, c.req.valid('param').id);
    return c.json({ data: (await listAllRoutePauses(db)).map(toPauseResponse) }, 200);
  });
}

function toPauseResponse({ since, nextProbeAt, ...pause }: RoutePause & { projectName: string | null }) {
  return { ...pause, since: since.toISOString(), nextProbeAt: nextProbeAt.toISOString() };
}
