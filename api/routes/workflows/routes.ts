import { createRoute, z } from '@hono/zod-openapi';
import { truncateLists } from '../../../db/page-budget.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { listWorkflowFields } from '../../../db/workflows/workflow-fields.ts';
import {
  deleteWorkflow,
  getWorkflow,
  insertWorkflow,
  listWorkflows,
  updateWorkflow,
} from '../../../db/workflows/workflows.ts';
import { resolveQueryAliases } from '../../http/aliases.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { IfMatch, readVersion, setETag, versionedResponse } from '../../http/record-version.ts';
import { emptyResponse, errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { IdParams, NameSearch, pageQuery, TruncatedLists } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { createStoredFields } from '../../http/stored-fields.ts';
import { assertPublicUrls } from '../workflow-steps/private-urls.ts';
import { CreateWorkflow, NO_TRIGGER, PatchWorkflow, readRequestedTrigger } from './input.ts';
import { toListedWorkflowResponse, toWorkflowDetailResponse, WorkflowDetailSchema, WorkflowList } from './response.ts';

const tags = ['Workflows'];

/** Workflows on a page, unless the request sets a size. */
const LIST_DEFAULT = 20;

const listRoute = createRoute({
  method: 'get',
  path: '/workflows',
  operationId: 'listWorkflows',
  tags,
  summary: 'List the workflows',
  description: 'Lists workflows, newest first. `workflows` and `data` are the same list.',
  security: allowScopes('workflows:view'),
  request: { query: pageQuery(LIST_DEFAULT).extend({ search: NameSearch }) },
  responses: { 200: jsonResponse(WorkflowList) },
});

const fieldsRoute = createRoute({
  method: 'get',
  path: '/workflows/fields',
  operationId: 'listWorkflowFields',
  tags,
  summary: 'List the fields for CONDITION steps',
  description:
    'Lists what a CONDITION step can use: fields of contacts (`data.<key>` for custom fields), names of events for history operators, and keys of the data of recorded events.',
  security: allowScopes('workflows:view'),
  responses: {
    200: jsonResponse(
      z
        .object({
          fields: z.array(
            z.object({ field: z.string(), type: z.string(), category: z.enum(['contact', 'event', 'email']) }),
          ),
          contactFields: z.array(z.string()),
          eventFields: z.array(z.string()),
          eventNames: z.array(z.string()),
          truncated: TruncatedLists,
        })
        .openapi('WorkflowFields', {
          example: {
            fields: [{ field: 'data.plan', type: 'string', category: 'contact' }],
            contactFields: ['email', 'data.plan'],
            eventFields: ['event.plan'],
            eventNames: ['signup'],
          },
        }),
    ),
  },
});

const createWorkflowRoute = createRoute({
  method: 'post',
  path: '/workflows',
  operationId: 'createWorkflow',
  tags,
  summary: 'Create a workflow',
  description:
    'Creates a workflow, which is disabled and has no steps. The step that you add first becomes its entry. A project can have 500 workflows (409). Without `slug`, the slug is derived from the name. Returns 409 if the `slug` in the request is taken.',
  security: allowScopes('workflows:edit'),
  request: { body: jsonBody(CreateWorkflow) },
  responses: { 201: versionedResponse(WorkflowDetailSchema), ...errorResponses('CONFLICT') },
});

const getRoute = createRoute({
  method: 'get',
  path: '/workflows/{id}',
  operationId: 'getWorkflow',
  tags,
  summary: 'Get a workflow with its steps and transitions',
  description: 'Header values of WEBHOOK steps are masked.',
  security: allowScopes('workflows:view'),
  request: { params: IdParams },
  responses: { 200: versionedResponse(WorkflowDetailSchema) },
});

const patchRoute = createRoute({
  method: 'patch',
  path: '/workflows/{id}',
  operationId: 'updateWorkflow',
  tags,
  summary: 'Update a workflow',
  description:
    'Updates the fields of the request. Before a workflow is enabled, the whole graph is checked, and a 422 lists all errors. After a workflow is disabled, running executions continue to their end, and no new execution starts.',
  security: allowScopes('workflows:edit'),
  stored: createStoredFields(({ db, config }, ref) =>
    getWorkflow(db, ref).then((workflow) => toWorkflowDetailResponse(config.secretKey, workflow)),
  ),
  request: { params: IdParams, headers: IfMatch, body: jsonBody(PatchWorkflow) },
  responses: { 200: versionedResponse(WorkflowDetailSchema), ...errorResponses('CONFLICT') },
});

const deleteRoute = createRoute({
  method: 'delete',
  path: '/workflows/{id}',
  operationId: 'deleteWorkflow',
  tags,
  summary: 'Delete a workflow',
  description: 'Deletes the workflow and its ended executions. Returns 409 while the workflow has active executions.',
  security: allowScopes('workflows:edit'),
  request: { params: IdParams, headers: IfMatch },
  responses: { 204: emptyResponse(), ...errorResponses('CONFLICT') },
});

export function registerWorkflowRoutes(app: App, { config, db }: Deps): void {
  app.openapi(listRoute, async (c) => {
    const query = c.req.valid('query');
    const pageSize = resolveQueryAliases({ pageSize: query.pageSize, limit: query.limit }) ?? LIST_DEFAULT;
    const page = await listWorkflows(db, { projectId: c.var.projectId, ...query, pageSize });
    const { items, ...numbers } = page;
    const workflows = items.map(toListedWorkflowResponse);
    return c.json({ workflows, data: workflows, ...numbers }, 200);
  });

  app.openapi(fieldsRoute, async (c) => c.json(truncateLists(await listWorkflowFields(db, c.var.projectId)), 200));

  app.openapi(createWorkflowRoute, async (c) => {
    const body = c.req.valid('json');
    const { eventName = null, includeAutomatic = false } = readRequestedTrigger(body, NO_TRIGGER);
    const newWorkflow = {
      projectId: c.var.projectId,
      name: body.name,
      slug: body.slug,
      description: body.description ?? null,
      triggerType: body.triggerType,
      eventName,
      includeAutomatic,
      allowReentry: body.allowReentry,
      reentryKey: body.reentryKey ?? null,
      exitOn: body.exitOn ?? [],
      exitWhenUnsubscribed: body.exitWhenUnsubscribed,
    };
    const workflow = await inTransaction(db, (trx) => insertWorkflow(trx, newWorkflow));
    setETag(c, workflow);
    return c.json(toWorkflowDetailResponse(config.secretKey, workflow), 201);
  });

  app.openapi(getRoute, async (c) => {
    const { id } = c.req.valid('param');
    const workflow = await getWorkflow(db, { projectId: c.var.projectId, id });
    setETag(c, workflow);
    return c.json(toWorkflowDetailResponse(config.secretKey, workflow), 200);
  });

  app.openapi(patchRoute, async (c) => {
    const { id } = c.req.valid('param');
    const { triggerConfig, exitOn, updatedAt, ...body } = c.req.valid('json');
    const exits = exitOn === undefined ? undefined : (exitOn ?? []);
    const ref = { projectId: c.var.projectId, id };
    const stored = triggerConfig ? await getWorkflow(db, ref) : undefined;
    const changes = { ...body, exitOn: exits, ...readRequestedTrigger({ ...body, triggerConfig }, stored) };
    const change = { ...ref, changes, read: readVersion(c, { updatedAt }) };
    const workflow = await inTransaction(db, async (trx) => {
      // Checks the URLs only if the workflow is disabled now, because a client may send an enabled workflow back
      // unchanged.
      if (body.enabled && !config.webhookAllowPrivate) assertPublicUrls(await getWorkflow(trx, ref));
      return updateWorkflow(trx, change);
    });
    setETag(c, workflow);
    return c.json(toWorkflowDetailResponse(config.secretKey, workflow), 200);
  });

  app.openapi(deleteRoute, async (c) => {
    const { id } = c.req.valid('param');
    const read = readVersion(c);
    await inTransaction(db, (trx) => deleteWorkflow(trx, { projectId: c.var.projectId, id, read }));
    return c.body(null, 204);
  });
}
