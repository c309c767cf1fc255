import { createRoute, z } from '@hono/zod-openapi';
import { insertAudit } from '../../../db/projects/audit-log.ts';
import { deleteSmsSender, insertSmsSender, listSmsSenders } from '../../../db/sms/senders.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { formatActor } from '../../http/actor.ts';
import { readClientAddress } from '../../http/client-address.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { emptyResponse, errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { IdParams } from '../../http/schemas.ts';
import { allowSession } from '../../http/security.ts';
import { CreateSender } from './input.ts';
import { Sender, toSenderResponse } from './response.ts';

const listRoute = createRoute({
  method: 'get',
  path: '/sms/senders',
  operationId: 'listSmsSenders',
  tags: ['SMS'],
  summary: 'List the SMS senders',
  description: 'Lists the sender of each country, and the default sender.',
  security: allowSession('project:manage'),
  responses: { 200: jsonResponse(z.object({ data: z.array(Sender) })) },
});

const createRouteOfSender = createRoute({
  method: 'post',
  path: '/sms/senders',
  operationId: 'createSmsSender',
  tags: ['SMS'],
  summary: 'Add an SMS sender',
  description: 'Registers the sender for a country, or the default sender for all other countries.',
  security: allowSession('project:manage'),
  request: { body: jsonBody(CreateSender) },
  responses: { 201: jsonResponse(Sender, 'Added'), ...errorResponses('CONFLICT') },
});

const deleteRoute = createRoute({
  method: 'delete',
  path: '/sms/senders/{id}',
  operationId: 'deleteSmsSender',
  tags: ['SMS'],
  summary: 'Remove an SMS sender',
  description: 'Removes a sender. SMS that were accepted before are still sent from it.',
  security: allowSession('project:manage'),
  request: { params: IdParams },
  responses: { 204: emptyResponse('Removed'), ...errorResponses('NOT_FOUND') },
});

/** Registers `/sms/senders` (contract §10.2 Sender and number). */
export function registerSmsSenderRoutes(app: App, { db }: Deps): void {
  app.openapi(listRoute, async (c) => {
    return c.json({ data: (await listSmsSenders(db, c.var.projectId)).map(toSenderResponse) }, 200);
  });

  app.openapi(createRouteOfSender, async (c) => {
    const { country = null, from } = c.req.valid('json');
    const { projectId, actor } = c.var;
    const sender = await inTransaction(db, async (trx) => {
      const saved = await insertSmsSender(trx, { projectId, country, from });
      const ip = readClientAddress(c);
      const audit = { projectId, actor: formatActor(actor), ip, target: saved.id };
      await insertAudit(trx, { ...audit, action: 'sms_sender.created', details: { country, from } });
      return saved;
    });
    return c.json(toSenderResponse(sender), 201);
  });

  app.openapi(deleteRoute, async (c) => {
    const { id } = c.req.valid('param');
    const { projectId, actor } = c.var;
    await inTransaction(db, async (trx) => {
      await deleteSmsSender(trx, { projectId, id });
      const audit = { projectId, actor: formatActor(actor), ip: readClientAddress(c), target: id };
      await insertAudit(trx, { ...audit, action: 'sms_sender.deleted', details: {} });
    });
    return c.body(null, 204);
  });
}
