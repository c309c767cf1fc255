import { createRoute } from '@hono/zod-openapi';
import { deleteTopic, getTopic, insertTopic, listTopics, updateTopic } from '../../../db/topics/topics.ts';
import { inTransaction } from '../../../db/transaction.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { emptyResponse, errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { cursorList, cursorQuery, IdParams } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { CreateTopic, LIST_DEFAULT, PatchTopic } from './input.ts';
import { TopicRecord, toTopicResponse } from './response.ts';

const tags = ['Topics'];

const listRoute = createRoute({
  method: 'get',
  path: '/topics',
  operationId: 'listTopics',
  tags,
  summary: 'List topics',
  description: 'Newest first. `total` is counted on the first page only.',
  security: allowScopes('contacts:view'),
  request: { query: cursorQuery(LIST_DEFAULT) },
  responses: { 200: jsonResponse(cursorList(TopicRecord)) },
});

const createTopicRoute = createRoute({
  method: 'post',
  path: '/topics',
  operationId: 'createTopic',
  tags,
  summary: 'Create a topic',
  description:
    'Creates a topic. Contacts can join and leave a topic independently of their subscription. Returns 409 if the name or the slug is taken, or if the project has 100 topics.',
  security: allowScopes('contacts:edit'),
  request: { body: jsonBody(CreateTopic) },
  responses: { 201: jsonResponse(TopicRecord, 'Created'), ...errorResponses('CONFLICT') },
});

const getRoute = createRoute({
  method: 'get',
  path: '/topics/{id}',
  operationId: 'getTopic',
  tags,
  summary: 'Get a topic',
  description: 'Returns the topic.',
  security: allowScopes('contacts:view'),
  request: { params: IdParams },
  responses: { 200: jsonResponse(TopicRecord) },
});

const patchRoute = createRoute({
  method: 'patch',
  path: '/topics/{id}',
  operationId: 'updateTopic',
  tags,
  summary: 'Update a topic',
  description:
    'A new name does not change the slug. A new `defaultSubscribed` applies to all contacts without a choice. Returns 409 if the name or the slug is taken.',
  security: allowScopes('contacts:edit'),
  request: { params: IdParams, body: jsonBody(PatchTopic) },
  responses: { 200: jsonResponse(TopicRecord), ...errorResponses('CONFLICT') },
});

const deleteRoute = createRoute({
  method: 'delete',
  path: '/topics/{id}',
  operationId: 'deleteTopic',
  tags,
  summary: 'Delete a topic',
  description:
    'Deletes the topic and the choices of all contacts. Returns 409 while a template or an unfinished campaign uses the topic.',
  security: allowScopes('contacts:edit'),
  request: { params: IdParams },
  responses: { 204: emptyResponse('Deleted'), ...errorResponses('CONFLICT') },
});

export function registerTopicRoutes(app: App, { db, reads }: Deps): void {
  app.openapi(listRoute, async (c) => {
    const { items, ...page } = await listTopics(reads, { projectId: c.var.projectId, ...c.req.valid('query') });
    return c.json({ data: items.map(toTopicResponse), ...page }, 200);
  });

  app.openapi(createTopicRoute, async (c) => {
    const fields = c.req.valid('json');
    const { projectId } = c.var;
    const topic = await inTransaction(db, (trx) => insertTopic(trx, { projectId, ...fields }));
    return c.json(toTopicResponse(topic), 201);
  });

  app.openapi(getRoute, async (c) => {
    const topic = await getTopic(db, { projectId: c.var.projectId, id: c.req.valid('param').id });
    return c.json(toTopicResponse(topic), 200);
  });

  app.openapi(patchRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const topic = await inTransaction(db, (trx) => updateTopic(trx, ref, c.req.valid('json')));
    return c.json(toTopicResponse(topic), 200);
  });

  app.openapi(deleteRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    await inTransaction(db, (trx) => deleteTopic(trx, ref));
    return c.body(null, 204);
  });
}
