import { createRoute, z } from '@hono/zod-openapi';
import { addSmsStops, assertLifted, liftSmsStops, listSmsStops, type SmsStop } from '../../../db/sms/stops.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { phoneHash } from '../../../rules/emails/suppression.ts';
import { readPhoneNumber } from '../../../rules/sms/phone.ts';
import { actorName } from '../../http/actor.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { errors, json, noContent, ok } from '../../http/responses.ts';
import { cursorList, cursorQuery, EXAMPLE_ID, Id, Instant } from '../../http/schemas.ts';
import { scopes } from '../../http/security.ts';

const LIST_DEFAULT = 20;

/** A plus that was not encoded arrives as a space. */
const Phone = z
  .string()
  .transform((text) => text.replace(/^ /, '+'))
  .refine((text) => readPhoneNumber(text) !== undefined, 'Must be a phone number in E.164, such as +4915112345678.')
  .openapi({ description: 'E.164', example: '+4915112345678' });

const From = z
  .string()
  .trim()
  .min(1)
  .max(40)
  .optional()
  .openapi({ description: 'A sender of the project; without it every sender', example: '+15005550006' });

const SmsStopRecord = z
  .object({
    id: Id,
    phone: z.string().nullable().openapi({ description: 'Null once the contact is erased' }),
    from: z.string().nullable().openapi({ description: 'The sender that it was said to; null for every sender' }),
    source: z.string(),
    actor: z
      .string()
      .nullable()
      .openapi({ description: 'The actor: `user:<id>`, `key:<id>`, `contact` for the person' }),
    createdAt: Instant,
  })
  .openapi('SmsStop', {
    example: {
      id: EXAMPLE_ID,
      phone: '+4915112345678',
      from: '+15005550006',
      source: 'twilio',
      actor: 'contact',
      createdAt: '2026-01-01T12:00:00.000Z',
    },
  });

const AddSmsStop = z
  .object({ phone: Phone, from: From })
  .openapi('AddSmsStop', { example: { phone: '+4915112345678', from: '+15005550006' } });

const listRoute = createRoute({
  method: 'get',
  path: '/v1/sms/stops',
  operationId: 'listSmsStops',
  tags: ['SMS'],
  summary: 'List the SMS stop list',
  description:
    'Numbers that want no SMS, newest first, or with `phone` the entries of one number. It outlives the contacts.',
  security: scopes('contacts:view'),
  request: { query: cursorQuery(LIST_DEFAULT).extend({ phone: Phone.optional() }) },
  responses: { 200: ok(cursorList(SmsStopRecord)) },
});

const addRoute = createRoute({
  method: 'post',
  path: '/v1/sms/stops',
  operationId: 'addSmsStop',
  tags: ['SMS'],
  summary: 'Put a number on the SMS stop list',
  description:
    'Ends every SMS to the number from the sender, or without `from` from every sender, and marketing from all senders. ' +
    'Adding it again keeps the first entry.',
  security: scopes('contacts:edit'),
  request: { body: json(AddSmsStop) },
  responses: { 201: ok(SmsStopRecord, 'On the list') },
});

const deleteRoute = createRoute({
  method: 'delete',
  path: '/v1/sms/stops/{phone}',
  operationId: 'deleteSmsStop',
  tags: ['SMS'],
  summary: 'Take a number off the SMS stop list',
  description:
    'Removes all entries of the number, or with `from` the entries of one sender. Do this only if the person asked for it.',
  security: scopes('contacts:edit'),
  request: { params: z.object({ phone: Phone }), query: z.object({ from: From }) },
  responses: { 204: noContent('Taken off'), ...errors('NOT_FOUND') },
});

/** Registers the SMS stop list (contract §10.3 SMS consent). */
export function smsStopRoutes(app: App, { db, reads, config }: Deps): void {
  const key = deriveKey(config.secretKey, 'suppression');

  app.openapi(listRoute, async (c) => {
    const { phone, ...asked } = c.req.valid('query');
    const hash = phone === undefined ? undefined : phoneHash(key, phone);
    const { items, ...page } = await listSmsStops(reads, { projectId: c.var.projectId, ...asked, hash });
    return c.json({ data: items.map(stopResponse), ...page }, 200);
  });

  app.openapi(addRoute, async (c) => {
    const { phone, from = null } = c.req.valid('json');
    const { projectId, actor } = c.var;
    const source = actor.kind === 'user' ? 'dashboard' : 'api';
    const stops = [{ phone, from, source, actor: actorName(actor) }];
    const [added] = await inTransaction(db, (trx) => addSmsStops(trx, key, { projectId, stops }));
    if (!added) throw new Error('the stop was not inserted');
    return c.json(stopResponse(added), 201);
  });

  app.openapi(deleteRoute, async (c) => {
    const { phone } = c.req.valid('param');
    const { from = null } = c.req.valid('query');
    const { projectId } = c.var;
    assertLifted(await inTransaction(db, (trx) => liftSmsStops(trx, key, { projectId, phone, from })));
    return c.body(null, 204);
  });
}

function stopResponse(stop: SmsStop) {
  return { ...stop, createdAt: stop.createdAt.toISOString() };
}
