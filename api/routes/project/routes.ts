import { createRoute } from '@hono/zod-openapi';
import { type AuditAction, insertAudit } from '../../../db/projects/audit-log.ts';
import { CHECKLIST, readChecklist } from '../../../db/projects/checklist.ts';
import { getProject, putProjectOnHold } from '../../../db/projects/projects.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { releaseProject, updateProject } from '../../../engine/projects/project-changes.ts';
import { formatActor } from '../../http/actor.ts';
import { readClientAddress } from '../../http/client-address.ts';
import type { Deps } from '../../http/deps.ts';
import type { App, RequestContext } from '../../http/env.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { allowSession } from '../../http/security.ts';
import { HoldProject, PatchProject } from './input.ts';
import { runPhoneUpdate } from './phone-update.ts';
import { Checklist, Project, toProjectResponse } from './response.ts';

const tags = ['Project'];

const getRoute = createRoute({
  method: 'get',
  path: '/project',
  operationId: 'getProject',
  insteadOfKey: 'Read the settings with GET /project/export',
  tags,
  summary: 'Get the project and its settings',
  description: 'Returns the current project of the session, with its public key and its hold.',
  security: allowSession('project:manage'),
  responses: { 200: jsonResponse(Project) },
});

const checklistRoute = createRoute({
  method: 'get',
  path: '/project/checklist',
  operationId: 'getChecklist',
  tags,
  summary: 'Get the setup checklist',
  description:
    'Returns for each of six first steps whether the project has completed it: a verified domain, a contact, a template, a sent email, a custom event, and an enabled workflow.',
  security: allowSession('analytics:view'),
  responses: { 200: jsonResponse(Checklist) },
});

const patchRoute = createRoute({
  method: 'patch',
  path: '/project',
  operationId: 'updateProject',
  insteadOfKey: 'Change settings in the dashboard',
  tags,
  summary: 'Update the project',
  description: 'Takes effect immediately in all processes.',
  security: allowSession('project:manage'),
  request: { body: jsonBody(PatchProject) },
  responses: { 200: jsonResponse(Project), ...errorResponses('NOT_FOUND') },
});

const holdRoute = createRoute({
  method: 'post',
  path: '/project/hold',
  operationId: 'holdProject',
  tags,
  summary: 'Put the project on hold',
  description:
    'Marketing and automation email waits as HELD until the project is released. Transactional email is sent.',
  security: allowSession('project:manage'),
  request: { body: jsonBody(HoldProject, { optional: true }) },
  responses: { 200: jsonResponse(Project) },
});

const releaseRoute = createRoute({
  method: 'post',
  path: '/project/release',
  operationId: 'releaseProject',
  tags,
  summary: 'Release the project',
  description:
    'Ends the hold and sends the held emails, each once. Returns 403 while the operator of the service holds the project.',
  security: allowSession('project:manage'),
  responses: { 200: jsonResponse(Project) },
});

export function registerProjectRoutes(app: App, deps: Deps): void {
  const { db, keys, outbox, reads } = deps;
  app.openapi(getRoute, async (c) => c.json(toProjectResponse(await getProject(db, c.var.projectId)), 200));

  app.openapi(checklistRoute, async (c) => {
    const done = await readChecklist(reads, c.var.projectId);
    const items = CHECKLIST.map((key) => ({ key, done: done[key] }));
    return c.json({ items, done: items.every((item) => item.done) }, 200);
  });

  app.openapi(patchRoute, async (c) => {
    const changes = c.req.valid('json');
    const { project, outbox: queued } = await inTransaction(db, async (trx) => {
      await recordAudit(trx, c, 'project.updated', { ...changes });
      return updateProject(trx, { projectId: c.var.projectId, changes });
    });
    keys.clear();
    outbox.wake(queued);
    if (changes.phoneCountry !== undefined) await runPhoneUpdate(deps, c.var.projectId);
    return c.json(toProjectResponse(project), 200);
  });

  app.openapi(holdRoute, async (c) => {
    const { reason } = c.req.valid('json');
    const project = await inTransaction(db, async (trx) => {
      await recordAudit(trx, c, 'project.held', { reason });
      return putProjectOnHold(trx, { projectId: c.var.projectId, reason });
    });
    keys.clear();
    return c.json(toProjectResponse(project), 200);
  });

  app.openapi(releaseRoute, async (c) => {
    const { project, outbox: queued } = await inTransaction(db, async (trx) => {
      await recordAudit(trx, c, 'project.released', {});
      return releaseProject(trx, c.var.projectId);
    });
    keys.clear();
    outbox.wake(queued);
    return c.json(toProjectResponse(project), 200);
  });
}

async function recordAudit(
  trx: Parameters<typeof insertAudit>[0],
  c: RequestContext,
  action: AuditAction,
  details: object,
) {
  const { projectId, actor } = c.var;
  const entry = { projectId, action, actor: formatActor(actor), target: null, ip: readClientAddress(c) };
  await insertAudit(trx, { ...entry, details: { ...details } });
}
