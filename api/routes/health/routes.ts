import { createRoute } from '@hono/zod-openapi';
import { ping } from '../../../db/connection.ts';
import type { Backlog } from '../../../db/outbox/outbox-backlog.ts';
import { getProject } from '../../../db/projects/projects.ts';
import { AppError } from '../../../rules/errors.ts';
import { groupBy } from '../../../rules/filters/group-by.ts';
import { findProjectId } from '../../http/authenticate.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { errorResponses, jsonResponse } from '../../http/responses.ts';
import { allowAnyone } from '../../http/security.ts';
import { toProjectResponse } from '../project/response.ts';
import { Health, ReadyHealth, ServiceHealth } from './response.ts';

/** A component that does not respond within this time is not ready. Probes usually time out after a few seconds. */
const PART_TIMEOUT_MS = 3_000;

const healthRoute = createRoute({
  method: 'get',
  path: '/health',
  operationId: 'getHealth',
  anyQuery: true,
  summary: 'Check the health of the service',
  description:
    'Returns 200 as soon as the API accepts requests and Postgres responds. With credentials, also returns whether the sending of the project is on hold.',
  security: allowAnyone(),
  responses: { 200: jsonResponse(ServiceHealth), ...errorResponses('SERVICE_UNAVAILABLE') },
});

const liveRoute = createRoute({
  method: 'get',
  path: '/health/live',
  operationId: 'getLiveness',
  anyQuery: true,
  summary: 'Check whether this process is alive',
  description: 'For liveness probes. Does not check Postgres, Temporal or other processes.',
  security: allowAnyone(),
  responses: { 200: jsonResponse(Health) },
});

const readyRoute = createRoute({
  method: 'get',
  path: '/health/ready',
  operationId: 'getReadiness',
  anyQuery: true,
  summary: 'Check whether Postgres and Temporal respond',
  description:
    'For readiness probes. If Postgres or Temporal does not respond, the response is 503, and `details.unreachable` names them. `details` of a 200 shows the work that waits in the outbox.',
  security: allowAnyone(),
  responses: { 200: jsonResponse(ReadyHealth), ...errorResponses('SERVICE_UNAVAILABLE') },
});

export function registerHealthRoutes(app: App, deps: Deps): void {
  const { db, lifecycle } = deps;
  app.openapi(healthRoute, async (c) => {
    await assertResponding({ postgres: () => ping(db) });
    const projectId = await findProjectId(c, deps);
    if (!projectId) return c.json({ status: 'ok' as const }, 200);
    c.header('Cache-Control', 'no-store');
    const { hold } = toProjectResponse(await getProject(db, projectId));
    return c.json({ status: 'ok' as const, project: { id: projectId, hold } }, 200);
  });
  app.openapi(liveRoute, (c) => c.json({ status: 'ok' as const }, 200));
  app.openapi(readyRoute, async (c) => {
    await assertResponding({ postgres: () => ping(db), temporal: () => lifecycle.ping() });
    return c.json({ status: 'ok' as const, details: { outbox: toSummary(await deps.backlog()) } }, 200);
  });
}

function toSummary(backlog: Backlog[]) {
  const kinds = [...groupBy(backlog, ({ kind }) => kind)].map(([kind, rows]) => ({ kind, ...sumRows(rows) }));
  return { ...sumRows(backlog), kinds };
}

function sumRows(rows: Backlog[]) {
  const oldest = Math.min(Date.now(), ...rows.map((row) => row.oldestAt.getTime()));
  return {
    waiting: rows.reduce((sum, row) => sum + row.waiting, 0),
    handedOver: rows.reduce((sum, row) => sum + row.handedOver, 0),
    oldestSeconds: Math.round((Date.now() - oldest) / 100) / 10,
  };
}

async function assertResponding(parts: Record<string, () => Promise<void>>): Promise<void> {
  const failures = await Promise.all(
    Object.entries(parts).map(async ([name, check]) => ((await respondsInTime(check())) ? [] : [name])),
  );
  const unreachable = failures.flat();
  if (unreachable.length > 0) throw new AppError('SERVICE_UNAVAILABLE', { details: { unreachable } });
}

function respondsInTime(response: Promise<void>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), PART_TIMEOUT_MS);
    response
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(() => clearTimeout(timer));
  });
}
