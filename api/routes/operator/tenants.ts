import { createRoute } from '@hono/zod-openapi';
import { listEmailDays } from '../../../db/events/email-hours.ts';
import {
  getTenant,
  listRefusals,
  listTenantActions,
  listTenantHours,
  listTenants,
  TENANT_DAYS,
} from '../../../db/operator/tenants.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { holdByOperator, releaseByOperator, setOperatorLimits } from '../../../engine/projects/operator-limits.ts';
import { listLastDays } from '../../../rules/time/local-days.ts';
import type { Deps } from '../../http/deps.ts';
import type { App, RequestContext } from '../../http/env.ts';
import { json, ok } from '../../http/responses.ts';
import { cursorList, IdParams } from '../../http/schemas.ts';
import { session } from '../../http/security.ts';
import { operatorOf } from './access.ts';
import { HoldTenant, LimitTenant, ReleaseTenant, TenantQuery } from './input.ts';
import { Tenant, TenantDetail, tenantResponse } from './response.ts';

const tags = ['Operator'];

const listRoute = createRoute({
  method: 'get',
  path: '/operator/projects',
  operationId: 'listTenants',
  insteadOfKey: 'Run npm run operator on the host of the service',
  tags,
  summary: 'List all projects of the installation',
  description: 'Projects with their volume, bounces and complaints in 24 hours and 30 days, limits and holds.',
  security: session(),
  request: { query: TenantQuery },
  responses: { 200: ok(cursorList(Tenant)) },
});

const getRoute = createRoute({
  method: 'get',
  path: '/operator/projects/{id}',
  operationId: 'getTenant',
  insteadOfKey: 'Run npm run operator on the host of the service',
  tags,
  summary: 'Get a project of the installation',
  description:
    'Includes the last 48 hours by hour, 30 days by day, the mailbox providers that refuse its email, and actions on holds and limits.',
  security: session(),
  request: { params: IdParams },
  responses: { 200: ok(TenantDetail) },
});

const limitRoute = createRoute({
  method: 'patch',
  path: '/operator/projects/{id}',
  operationId: 'limitTenant',
  insteadOfKey: 'Run npm run operator on the host of the service',
  tags,
  summary: 'Set the operator limits of a project',
  description:
    "The project cannot exceed these limits. Recorded in the project's audit log. Same as `npm run operator -- project <id> --set`.",
  security: session(),
  request: { params: IdParams, body: json(LimitTenant) },
  responses: { 200: ok(Tenant) },
});

const holdRoute = createRoute({
  method: 'post',
  path: '/operator/projects/{id}/hold',
  operationId: 'holdTenant',
  insteadOfKey: 'Run npm run operator on the host of the service',
  tags,
  summary: 'Put a project on hold',
  description:
    'Marketing and automation email waits as HELD until an operator releases it. The project sees the reason. If the project is already on hold, it keeps its date and gets the new reason.',
  security: session(),
  request: { params: IdParams, body: json(HoldTenant) },
  responses: { 200: ok(Tenant) },
});

const releaseRoute = createRoute({
  method: 'post',
  path: '/operator/projects/{id}/release',
  operationId: 'releaseTenant',
  insteadOfKey: 'Run npm run operator on the host of the service',
  tags,
  summary: 'Release a project',
  description:
    'Sends held emails, each once, unless the project or its guards hold it too (`ownHold`); only its own members can release that.',
  security: session(),
  request: { params: IdParams, body: json(ReleaseTenant) },
  responses: { 200: ok(Tenant) },
});

export function operatorTenantRoutes(app: App, deps: Deps): void {
  const { db, reads, keys, outbox } = deps;

  /** Returns the actor and the project of a change, for the audit log. */
  async function changeOf(c: RequestContext, projectId: string) {
    return { projectId, actor: await operatorOf(c, deps) };
  }

  app.openapi(listRoute, async (c) => {
    await operatorOf(c, deps);
    const { items, ...page } = await listTenants(reads, c.req.valid('query'));
    return c.json({ ...page, data: items.map(tenantResponse) }, 200);
  });

  app.openapi(getRoute, async (c) => {
    await operatorOf(c, deps);
    const { id } = c.req.valid('param');
    const [tenant, hours, days, refusals, actions] = await Promise.all([
      getTenant(reads, id),
      listTenantHours(reads, id),
      listEmailDays(reads, { projectId: id, days: listLastDays('UTC', TENANT_DAYS, Date.now()) }),
      listRefusals(reads, id),
      listTenantActions(reads, id),
    ]);
    const more = {
      hours: hours.map(({ hour, ...counts }) => ({ ...counts, hour: hour.toISOString() })),
      days,
      refusals,
      actions: actions.map(({ createdAt, ...action }) => ({ ...action, createdAt: createdAt.toISOString() })),
    };
    return c.json({ ...tenantResponse(tenant), ...more }, 200);
  });

  app.openapi(limitRoute, async (c) => {
    const change = await changeOf(c, c.req.valid('param').id);
    await inTransaction(db, (trx) => setOperatorLimits(trx, change, c.req.valid('json')));
    keys.forget();
    return c.json(tenantResponse(await getTenant(db, change.projectId)), 200);
  });

  app.openapi(holdRoute, async (c) => {
    const change = await changeOf(c, c.req.valid('param').id);
    await inTransaction(db, (trx) => holdByOperator(trx, change, c.req.valid('json').reason));
    keys.forget();
    return c.json(tenantResponse(await getTenant(db, change.projectId)), 200);
  });

  app.openapi(releaseRoute, async (c) => {
    const change = await changeOf(c, c.req.valid('param').id);
    const { outbox: queued } = await inTransaction(db, (trx) =>
      releaseByOperator(trx, change, c.req.valid('json').note),
    );
    keys.forget();
    outbox.wake(queued);
    return c.json(tenantResponse(await getTenant(db, change.projectId)), 200);
  });
}
