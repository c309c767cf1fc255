import { createRoute, z } from '@hono/zod-openapi';
import {
  deleteContactField,
  getFieldUsage,
  listContactFields,
  listFieldValues,
  parseCustomFieldKey,
} from '../../../db/contacts/fields.ts';
import { truncateLists } from '../../../db/page-budget.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { errorResponses, jsonResponse } from '../../http/responses.ts';
import { wholeNumber } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { FieldParams, VALUES_DEFAULT, VALUES_MAX } from './input.ts';
import { DeletedField, Fields, FieldValues, Usage } from './response.ts';

const listRoute = createRoute({
  method: 'get',
  path: '/contacts/fields',
  operationId: 'listContactFields',
  tags: ['Contacts'],
  summary: 'List standard and custom fields',
  description:
    'Returns each field with its most frequent type and the percentage of contacts that have the field. In projects with more than 20,000 contacts, both values are computed from a sample of the contacts.',
  security: allowScopes('contacts:view'),
  responses: { 200: jsonResponse(Fields) },
});

const valuesRoute = createRoute({
  method: 'get',
  path: '/contacts/fields/{field}/values',
  operationId: 'listContactFieldValues',
  tags: ['Contacts'],
  summary: 'List the distinct values of a custom field',
  description:
    'Lists the values, the most frequent first. Only the newest 100,000 contacts that have the field are counted.',
  security: allowScopes('contacts:view'),
  request: {
    params: FieldParams,
    query: z.object({ limit: wholeNumber({ min: 1, max: VALUES_MAX, default: VALUES_DEFAULT }) }),
  },
  responses: { 200: jsonResponse(FieldValues) },
});

const usageRoute = createRoute({
  method: 'get',
  path: '/contacts/fields/{field}/usage',
  operationId: 'getContactFieldUsage',
  tags: ['Contacts'],
  summary: 'List the uses of a custom field',
  description: 'Lists segments, campaigns that are not sent yet, and workflows whose steps use the field.',
  security: allowScopes('contacts:view'),
  request: { params: FieldParams },
  responses: { 200: jsonResponse(Usage), ...errorResponses('BAD_REQUEST') },
});

const deleteRoute = createRoute({
  method: 'delete',
  path: '/contacts/fields/{field}',
  operationId: 'deleteContactField',
  tags: ['Contacts'],
  summary: 'Delete a custom field from all contacts',
  description: 'Returns 409 while a segment, an unsent campaign or a workflow uses the field.',
  security: allowScopes('contacts:edit'),
  request: { params: FieldParams },
  responses: { 200: jsonResponse(DeletedField), ...errorResponses('BAD_REQUEST', 'CONFLICT') },
});

/**
 * Registers the operations on fields. Call it before `registerContactRoutes`, because `/contacts/{id}` matches
 * `/contacts/fields` too.
 */
export function registerContactFieldRoutes(app: App, { db, reads }: Deps): void {
  app.openapi(listRoute, async (c) => {
    const fields = await listContactFields(reads, c.var.projectId);
    return c.json({ ...truncateLists({ fields }), count: fields.length }, 200);
  });

  app.openapi(valuesRoute, async (c) => {
    const { field } = c.req.valid('param');
    const { limit } = c.req.valid('query');
    const values = await listFieldValues(reads, { projectId: c.var.projectId, key: parseCustomFieldKey(field), limit });
    return c.json({ field, ...truncateLists({ values }), count: values.length, limit }, 200);
  });

  app.openapi(usageRoute, async (c) => {
    const key = parseCustomFieldKey(c.req.valid('param').field);
    const { contactCount, canDelete, ...uses } = await getFieldUsage(reads, { projectId: c.var.projectId, key });
    return c.json({ ...truncateLists(uses), contactCount, canDelete }, 200);
  });

  app.openapi(deleteRoute, async (c) => {
    const key = parseCustomFieldKey(c.req.valid('param').field);
    return c.json({ deletedFrom: await deleteContactField(db, { projectId: c.var.projectId, key }) }, 200);
  });
}
