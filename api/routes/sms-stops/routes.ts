import { createRoute, z } from '@hono/zod-openapi';
import { addSmsStops, assertStopLifted, liftSmsStops, listSmsStops, type SmsStop } from '../../../db/sms/stops.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { computePhoneHash } from '../../../rules/emails/suppression.ts';
import { readWrittenNumber } from '../../../rules/sms/phone.ts';
import { formatActor } from '../../http/actor.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { emptyResponse, errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { cursorList, cursorQuery, EXAMPLE_ID, Id, Instant, PhoneNumberInput } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';

const LIST_DEFAULT = 20;
const SHORT_CODE = /^\d{3,8}$/;

const From = z
  .string()
  .trim()
  .min(1)
  .max(40)
  // Converts the number to E.164, because a stop with another spelling of the number would never apply. Short codes and
  // names do not change.
  .transform((text) => (SHORT_CODE.test(text) ? text : (readWrittenNumber(text, null)?.e164 ?? text)))
  .optional()
  .openapi({
    type: 'string',
    description: 'A sender of the project. If omitted, all senders.',
    example: '+15005550006',
  });

const SmsStopRecord = z
  .object({
    id: Id,
    phone: z.string().nullable().openapi({ description: 'Null after the contact is erased' }),
    from: z.string().nullable().openapi({
      description:
        'Sender that may not send SMS to the number. Null means all senders, and `import` means a refusal in an imported file.',
    }),
    source: z.string(),
    actor: z.string().nullable().openapi({
      description: 'The user, key or person that added the entry: `user:<id>`, `key:<id>`, or `contact` for the person',
    }),
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
  .object({ phone: PhoneNumberInput, from: From })
  .openapi('AddSmsStop', { example: { phone: '+4915112345678', from: '+15005550006' } });

const listRoute = createRoute({
  method: 'get',
  path: '/v1/sms/stops',
  operationId: 'listSmsStops',
  tags: ['SMS'],
  summary: 'List the SMS stop list',
  description:
    'Lists phone numbers that must not get SMS, newest first. `phone` selects the entries of one number. Entries stay when contacts are erased.',
  security: allowScopes('contacts:view'),
  request: { query: cursorQuery(LIST_DEFAULT).extend({ phone: PhoneNumberInput.optional() }) },
  responses: { 200: jsonResponse(cursorList(SmsStopRecord)) },
});

const addRoute = createRoute({
  method: 'post',
  path: '/v1/sms/stops',
  operationId: 'addSmsStop',
  tags: ['SMS'],
  summary: 'Add a number to the SMS stop list',
  description:
    'Stops all SMS from the sender `from` to the number, and marketing SMS from all senders. Without `from`, stops all SMS from all senders. If the number is already on the list, the existing entry stays.',
  security: allowScopes('contacts:edit'),
  request: { body: jsonBody(AddSmsStop) },
  responses: { 201: jsonResponse(SmsStopRecord, 'Added') },
});

const deleteRoute = createRoute({
  method: 'delete',
  path: '/v1/sms/stops/{phone}',
  operationId: 'deleteSmsStop',
  tags: ['SMS'],
  summary: 'Remove a number from the SMS stop list',
  description:
    'Removes all entries of the number. With `from`, removes only the entries for this sender, for all senders and from imports. Do this only if the person has asked for it.',
  security: allowScopes('contacts:edit'),
  request: { params: z.object({ phone: PhoneNumberInput }), query: z.object({ from: From }) },
  responses: { 204: emptyResponse('Removed'), ...errorResponses('NOT_FOUND') },
});

/** Registers the SMS stop list (contract §10.3 SMS consent). */
export function registerSmsStopRoutes(app: App, { db, reads, config }: Deps): void {
  const key = deriveKey(config.secretKey, 'suppression');

  app.openapi(listRoute, async (c) => {
    const { phone, ...paging } = c.req.valid('query');
    const hash = phone === undefined ? undefined : computePhoneHash(key, phone);
    const { items, ...page } = await listSmsStops(reads, { projectId: c.var.projectId, ...paging, hash });
    return c.json({ data: items.map(toStopResponse), ...page }, 200);
  });

  app.openapi(addRoute, async (c) => {
    const { phone, from = null } = c.req.valid('json');
    const { projectId, actor } = c.var;
    const source = actor.kind === 'user' ? 'dashboard' : 'api';
    const stops = [{ phone, from, source, actor: formatActor(actor) }];
    const [added] = await inTransaction(db, (trx) => addSmsStops(trx, key, { projectId, stops }));
    if (!added) throw new Error('the stop was not inserted');
    return c.json(toStopResponse(added), 201);
  });

  app.openapi(deleteRoute, async (c) => {
    const { phone } = c.req.valid('param');
    const { from = null } = c.req.valid('query');
    const { projectId } = c.var;
    assertStopLifted(await inTransaction(db, (trx) => liftSmsStops(trx, key, { projectId, phone, from })));
    return c.body(null, 204);
  });
}

function toStopResponse(stop: SmsStop) {
  return { ...stop, createdAt: stop.createdAt.toISOString() };
}
