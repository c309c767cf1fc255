import { createRoute, z } from '@hono/zod-openapi';
import { insertAudit } from '../../../db/audit-log.ts';
import { deleteSmsSender, insertSmsSender, listSmsSenders, type SmsSender } from '../../../db/sms-senders.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { actorName } from '../../http/actor.ts';
import { errors, json, noContent, ok } from '../../http/answers.ts';
import { clientAddress } from '../../http/client-address.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { Id, IdParams, Instant } from '../../http/schemas.ts';
import { session } from '../../http/security.ts';

const EXAMPLE = { country: 'DE', from: '+4915112345678' };

const Sender = z
  .object({ id: Id, country: z.string().nullable(), from: z.string(), createdAt: Instant })
  .openapi('SmsSender', {
    example: { id: '0190a000-0000-7000-8000-000000000000', ...EXAMPLE, createdAt: '2026-01-01T12:00:00.000Z' },
  });

const CreateSender = z
  .object({
    country: z
      .string()
      .toUpperCase()
      .regex(/^[A-Z]{2}$/, 'Must be an ISO 3166-1 code of two letters')
      .nullish()
      .openapi({ description: 'Null or none makes the default sender' }),
    from: z
      .string()
      .trim()
      .regex(
        /^(\+[1-9]\d{6,14}|\d{3,8}|(?=.*[A-Za-z])[A-Za-z0-9 ]{1,11})$/,
        'Must be a number in E.164, a short code or a name',
      ),
  })
  .openapi('CreateSmsSender', { example: EXAMPLE });

const listRoute = createRoute({
  method: 'get',
  path: '/sms/senders',
  operationId: 'listSmsSenders',
  tags: ['SMS'],
  summary: 'List the SMS senders',
  description: 'The sender of each country, and the default one.',
  security: session('project:manage'),
  responses: { 200: ok(z.object({ data: z.array(Sender) })) },
});

const createRouteOfSender = createRoute({
  method: 'post',
  path: '/sms/senders',
  operationId: 'createSmsSender',
  tags: ['SMS'],
  summary: 'Add an SMS sender',
  description: 'Registers the sender for a country, or the default one.',
  security: session('project:manage'),
  request: { body: json(CreateSender) },
  responses: { 201: ok(Sender, 'Added'), ...errors('CONFLICT') },
});

const deleteRoute = createRoute({
  method: 'delete',
  path: '/sms/senders/{id}',
  operationId: 'deleteSmsSender',
  tags: ['SMS'],
  summary: 'Remove an SMS sender',
  description: 'Messages accepted before keep the sender they were accepted with.',
  security: session('project:manage'),
  request: { params: IdParams },
  responses: { 204: noContent('Removed'), ...errors('NOT_FOUND') },
});

/** `/sms/senders` (contract §10.2). */
export function smsSenderRoutes(app: App, { db }: Deps): void {
  app.openapi(listRoute, async (c) => {
    return c.json({ data: (await listSmsSenders(db, c.var.projectId)).map(senderAnswer) }, 200);
  });

  app.openapi(createRouteOfSender, async (c) => {
    const { country = null, from } = c.req.valid('json');
    const { projectId, actor } = c.var;
    const sender = await inTransaction(db, async (trx) => {
      const saved = await insertSmsSender(trx, { projectId, country, from });
      const ip = clientAddress(c);
      const audit = { projectId, actor: actorName(actor), ip, target: saved.id };
      await insertAudit(trx, { ...audit, action: 'sms_sender.created', details: { country, from } });
      return saved;
    });
    return c.json(senderAnswer(sender), 201);
  });

  app.openapi(deleteRoute, async (c) => {
    const { id } = c.req.valid('param');
    const { projectId, actor } = c.var;
    await inTransaction(db, async (trx) => {
      await deleteSmsSender(trx, { projectId, id });
      const audit = { projectId, actor: actorName(actor), ip: clientAddress(c), target: id };
      await insertAudit(trx, { ...audit, action: 'sms_sender.deleted', details: {} });
    });
    return c.body(null, 204);
  });
}

function senderAnswer({ id, country, from, createdAt }: SmsSender) {
  return { id, country, from, createdAt: createdAt.toISOString() };
}
