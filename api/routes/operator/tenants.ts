import { createRoute } from '@hono/zod-openapi';
import { listEmailDays } from '../../../db/events/email-hours.ts';
import {
  getTenant,
  listProviderRefusals,
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
import { jsonBody, jsonResponse } from '../../http/responses.ts';
import { cursorList, IdParams } from '../../http/schemas.ts';
import { allowSession } from '../../http/security.ts';
import { requireOperator } from './access.ts';
import { HoldTenant, LimitTenant, ReleaseTenant, TenantQuery } from './input.ts';
import { Tenant, TenantDetail, toTenantResponse } from './response.ts';

const tags = ['Operator'];

const listRoute = createRoute({
  method: 'get',
  path: '/operator/projects',
  operationId: 'listTenants',
  insteadOfKey: 'Run npm run operator on the host of the service',
  tags,
  summary: 'List all projects of the installation',
  description:
    'Lists projects with the number of emails, bounces and complaints in 24 hours and 30 days, and with limits and holds.',
  security: allowSession(),
  request: { query: TenantQuery },
  responses: { 200: jsonResponse(cursorList(Tenant)) },
});

const getRoute = createRoute({
  method: 'get',
  path: '/operator/projects/{id}',
  operationId: 'getTenant',
  insteadOfKey: 'Run npm run operator on the host of the service',
  tags,
  summary: 'Get a project of the installation',
  description:
    'Returns the project with counts of the last 48 hours by hour and of 30 days by day, the mailbox providers that refuse its email, and changes of holds and limits.',
  security: allowSession(),
  request: { params: IdParams },
  responses: { 200: jsonResponse(TenantDetail) },
});

const limitRoute = createRoute({
  method: 'patch',
  path: '/operator/projects/{id}',
  operationId: 'limitTenant',
  insteadOfKey: 'Run npm run operator on the host of the service',
  tags,
  summary: 'Set the operator limits of a project',
  description:
    "Sets limits that the project cannot exceed. The change is recorded in the project's audit log. Same as `npm run operator -- project <id> --set`.",
  security: allowSession(),
  request: { params: IdParams, body: jsonBody(LimitTenant) },
  responses: { 200: jsonResponse(Tenant) },
});

const holdRoute = createRoute({
  method: 'post',
  path: '/operator/projects/{id}/hold',
  operationId: 'holdTenant',
  insteadOfKey: 'Run npm run operator on the host of the service',
  tags,
  summary: 'Put a project on hold',
  description:
    'Marketing and automation email waits as HELD until an operator releases the project. Members of the project see the reason. If the operator already holds the project, the date of the hold stays, and the reason changes.',
  security: allowSession(),
  request: { params: IdParams, body: jsonBody(HoldTenant) },
  responses: { 200: jsonResponse(Tenant) },
});

const releaseRoute = createRoute({
  method: 'post',
  path: '/operator/projects/{id}/release',
  operationId: 'releaseTenant',
  insteadOfKey: 'Run npm run operator on the host of the service',
  tags,
  summary: 'Release a project',
  description:
    "Ends the operator's hold and sends the held emails, each once. If a member or a guard of the project has set a hold too (`ownHold`), the emails wait until a member releases that hold.",
  security: allowSession(),
  request: { params: IdParams, body: jsonBody(ReleaseTenant) },
  responses: { 200: jsonResponse(Tenant) },
});

export function registerOperatorTenantRoutes(app: App, deps: Deps): void {
  const { db, reads, keys, outbox } = deps;

  /**
   * Returns the project of a change and the operator who makes it, for the audit log.
   * @throws AppError NOT_FOUND if the caller is not an operator
   */
  async function describeChange(c: RequestContext, projectId: string) {
    return { projectId, actor: await requireOperator(c, deps) };
  }

  app.openapi(listRoute, async (c) => {
    await requireOperator(c, deps);
    const { items, ...page } = await listTenants(reads, c.req.valid('query'));
    return c.json({ ...page, data: items.map(toTenantResponse) }, 200);
  });

  app.openapi(getRoute, async (c) => {
    await requireOperator(c, deps);
    const { id } = c.req.valid('param');
    const [tenant, hours, days, refusals, actions] = await Promise.all([
      getTenant(reads, id),
      listTenantHours(reads, id),
      listEmailDays(reads, { projectId: id, days: listLastDays('UTC', TENANT_DAYS, Date.now()) }),
      listProviderRefusals(reads, id),
      listTenantActions(reads, id),
    ]);
    const more = {
      hours: hours.map(({ hour, ...counts }) => ({ ...counts, hour: hour.toISOString() })),
      days,
      refusals,
      actions: actions.map(({ createdAt, ...action }) => ({ ...action, createdAt: createdAt.toISOString() })),
    };
    return c.json({ ...toTenantResponse(tenant), ...more }, 200);
  });

  app.openapi(limitRoute, async (c) => {
    const change = await describeChange(c, c.req.valid('param').id);
    await inTransaction(db, (trx) => setOperatorLimits(trx, change, c.req.valid('json')));
    keys.clear();
    return c.json(toTenantResponse(await getTenant(db, change.projectId)), 200);
  });

  app.openapi(holdRoute, async (c) => {
    const change = await describeChange(c, c.req.valid('param').id);
    await inTransaction(db, (trx) => holdByOperator(trx, change, c.req.valid('json').reason));
    keys.clear();
    return c.json(toTenantResponse(await getTenant(db, change.projectId)), 200);
  });

  app.openapi(releaseRoute, async (c) => {
    const change = await describeChange(c, c.req.valid('param').id);
    const { outbox: queued } = await inTransaction(db, (trx) =>
      releaseByOperator(trx, change, c.req.valid('json').note),
    );
    keys.clear();
    outbox.wake(queued);
    return c.json(toTenantResponse(await getTenant(db, change.projectId)), 200);
  });
}
