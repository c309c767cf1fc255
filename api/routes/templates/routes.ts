import { createRoute } from '@hono/zod-openapi';
import {
  deleteTemplate,
  duplicateTemplate,
  getTemplate,
  getTemplateUsage,
  insertTemplate,
  listTemplates,
  updateTemplate,
} from '../../../db/contents/templates.ts';
import { truncateLists } from '../../../db/page-budget.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { resolveQueryAliases } from '../../http/aliases.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { IfMatch, readVersion, setETag, versionedResponse } from '../../http/record-version.ts';
import { emptyResponse, errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { IdParams, NameSearch, pageQuery } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { createStoredFields } from '../../http/stored-fields.ts';
import { mergeEmailText } from '../email-text.ts';
import { refuseBadContent } from './content-check.ts';
import { CreateTemplate, LIST_DEFAULT, PatchTemplate, refuseTopicOnTransactional, Type } from './input.ts';
import { TemplateList, TemplateRecord, toListedResponse, toTemplateResponse, Usage } from './response.ts';

const listRoute = createRoute({
  method: 'get',
  path: '/templates',
  operationId: 'listTemplates',
  tags: ['Templates'],
  summary: 'List templates',
  description:
    'Lists templates, newest first, by page number or by cursor. `search` is a part of name, subject or description. A page is at most 4 MB. When it would become larger, the remaining templates are returned without `body` and have `truncated`.',
  security: allowScopes('templates:view'),
  request: {
    query: pageQuery(LIST_DEFAULT).extend({
      type: Type.optional(),
      search: NameSearch.openapi({ description: 'Part of the name, subject or description' }),
    }),
  },
  responses: { 200: jsonResponse(TemplateList) },
});

const createTemplateRoute = createRoute({
  method: 'post',
  path: '/templates',
  operationId: 'createTemplate',
  tags: ['Templates'],
  summary: 'Create a template',
  description:
    'Creates a template. Subject and body are Liquid. If one of them cannot be parsed, the response is 422, with line and column in `details`. A project can have 1,000 templates (409). Without `slug`, the slug is derived from the name. Returns 409 if the `slug` in the request is taken.',
  security: allowScopes('templates:edit'),
  request: { body: jsonBody(CreateTemplate) },
  responses: {
    201: versionedResponse(TemplateRecord, 'Created'),
    ...errorResponses('DOMAIN_NOT_VERIFIED', 'NOT_FOUND', 'CONFLICT'),
  },
});

const getRoute = createRoute({
  method: 'get',
  path: '/templates/{id}',
  operationId: 'getTemplate',
  tags: ['Templates'],
  summary: 'Get a template',
  description: 'Returns the template with its subject and body.',
  security: allowScopes('templates:view'),
  request: { params: IdParams },
  responses: { 200: versionedResponse(TemplateRecord) },
});

const patchRoute = createRoute({
  method: 'patch',
  path: '/templates/{id}',
  operationId: 'updateTemplate',
  tags: ['Templates'],
  summary: 'Update a template',
  description:
    'Updates the fields of the request; null clears an optional field. Emails that were accepted before keep their content. A new name does not change the slug.',
  security: allowScopes('templates:edit'),
  stored: createStoredFields(({ db }, ref) => getTemplate(db, ref)),
  request: { params: IdParams, headers: IfMatch, body: jsonBody(PatchTemplate) },
  responses: { 200: versionedResponse(TemplateRecord), ...errorResponses('DOMAIN_NOT_VERIFIED', 'CONFLICT') },
});

const deleteRoute = createRoute({
  method: 'delete',
  path: '/templates/{id}',
  operationId: 'deleteTemplate',
  tags: ['Templates'],
  summary: 'Delete a template',
  description: "Returns 409 while a workflow step or the project's double opt-in uses the template.",
  security: allowScopes('templates:edit'),
  request: { params: IdParams, headers: IfMatch },
  responses: { 204: emptyResponse('Deleted'), ...errorResponses('CONFLICT') },
});

const duplicateRoute = createRoute({
  method: 'post',
  path: '/templates/{id}/duplicate',
  operationId: 'duplicateTemplate',
  tags: ['Templates'],
  summary: 'Duplicate a template',
  description: 'Returns the new template, named "… (Copy)".',
  security: allowScopes('templates:edit'),
  request: { params: IdParams },
  responses: { 201: versionedResponse(TemplateRecord, 'The copy'), ...errorResponses('CONFLICT') },
});

const usageRoute = createRoute({
  method: 'get',
  path: '/templates/{id}/usage',
  operationId: 'getTemplateUsage',
  tags: ['Templates'],
  summary: 'List the uses of a template',
  description:
    'Returns the workflow steps that use the template, and the number of live emails sent with it. `campaigns` is always empty, because a campaign has its own text.',
  security: allowScopes('templates:view'),
  request: { params: IdParams },
  responses: { 200: jsonResponse(Usage) },
});

export function registerTemplateRoutes(app: App, { db, reads, compute }: Deps): void {
  app.openapi(listRoute, async (c) => {
    const query = c.req.valid('query');
    const { items, ...page } = await listTemplates(reads, {
      projectId: c.var.projectId,
      ...query,
      pageSize: resolveQueryAliases({ pageSize: query.pageSize, limit: query.limit }) ?? LIST_DEFAULT,
    });
    return c.json({ templates: items.map(toListedResponse), ...page }, 200);
  });

  app.openapi(createTemplateRoute, async (c) => {
    const input = c.req.valid('json');
    const { projectId } = c.var;
    refuseTopicOnTransactional(input);
    const { name, slug, description = null, type, topicId = null } = input;
    const fields = { name, slug, description, type, topicId, ...mergeEmailText<string | null>(input) };
    await refuseBadContent(compute, { projectId, content: fields });
    const template = await inTransaction(db, (trx) => insertTemplate(trx, { projectId, ...fields }));
    setETag(c, template);
    return c.json(toTemplateResponse(template), 201);
  });

  app.openapi(getRoute, async (c) => {
    const template = await getTemplate(db, { projectId: c.var.projectId, id: c.req.valid('param').id });
    setETag(c, template);
    return c.json(toTemplateResponse(template), 200);
  });

  app.openapi(patchRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const changes = c.req.valid('json');
    const read = readVersion(c, changes);
    // Checks the content before the transaction takes locks, because the check renders the content, and renderings of a
    // project wait for its processor budget. Unchanged content is not checked, because it was checked when it was
    // saved.
    const current = await getTemplate(db, ref);
    const content = { ...mergeEmailText(changes, current), type: changes.type ?? current.type };
    await refuseBadContent(compute, { projectId: ref.projectId, content, stored: [current] });
    const template = await inTransaction(db, async (trx) => {
      const updated = await updateTemplate(trx, { ...ref, changes, read });
      refuseTopicOnTransactional(updated);
      return updated;
    });
    setETag(c, template);
    return c.json(toTemplateResponse(template), 200);
  });

  app.openapi(deleteRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const read = readVersion(c);
    await inTransaction(db, (trx) => deleteTemplate(trx, { ...ref, read }));
    return c.body(null, 204);
  });

  app.openapi(duplicateRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const copy = await inTransaction(db, (trx) => duplicateTemplate(trx, ref));
    setETag(c, copy);
    return c.json(toTemplateResponse(copy), 201);
  });

  app.openapi(usageRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const { emailsSent, ...uses } = await getTemplateUsage(db, ref);
    return c.json({ ...truncateLists(uses), emailsSent }, 200);
  });
}
