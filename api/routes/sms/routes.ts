import { createRoute, z } from '@hono/zod-openapi';
import { findWorkflowIdOfExecution } from '../../../db/executions/executions.ts';
import { withIdempotency } from '../../../db/idempotency.ts';
import { getSms, insertSms, listSms } from '../../../db/sms/messages.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { AppError } from '../../../rules/errors.ts';
import type { OutboxRow } from '../../../rules/outbox.ts';
import { readPhoneNumber } from '../../../rules/sms/phone.ts';
import { SMS_SOURCES } from '../../../rules/sms/source.ts';
import { SMS_STATUSES } from '../../../rules/sms/status.ts';
import { readIdempotencyKeyOwner } from '../../http/actor.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { IdempotencyHeader, readIdempotencyKey } from '../../http/idempotency-key.ts';
import { noteAffectedRows } from '../../http/request-log.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { cursorQuery, Id, IdParams, InstantInput, PhoneNumberInput } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { SendSms } from './input.ts';
import { AcceptedSms, SmsItem, SmsRecord, toAcceptedSms, toSmsItem, toSmsRecord } from './response.ts';

const sendRoute = {
  ...createRoute({
    method: 'post',
    path: '/v1/sms/send',
    operationId: 'sendSms',
    unknownFields: 'refuse',
    tags: ['SMS'],
    summary: 'Send an SMS',
    description:
      'Accepts an SMS and sends it after the response. The country of the number determines the sender. `GET /v1/sms/{id}` shows the result.',
    security: allowScopes('sms:send'),
    request: { headers: IdempotencyHeader, body: jsonBody(SendSms) },
    responses: {
      202: jsonResponse(AcceptedSms, 'Accepted'),
      ...errorResponses('NO_SMS_SENDER', 'SMS_NOT_ENABLED', 'NOT_FOUND'),
    },
  }),
  invalid: 400 as const,
};

const listRoute = {
  ...createRoute({
    method: 'get',
    path: '/v1/sms',
    operationId: 'listSms',
    tags: ['SMS'],
    summary: 'List SMS',
    description: 'Lists SMS of the project, newest first, without bodies.',
    security: allowScopes('sms:view'),
    request: {
      query: cursorQuery(25).extend({
        status: z.enum(SMS_STATUSES).optional(),
        sourceType: z
          .enum(SMS_SOURCES)
          .optional()
          .openapi({ description: 'Whether a request or a workflow created the SMS' }),
        contactId: Id.optional(),
        workflowExecutionId: Id.optional().openapi({ description: 'Only messages that this workflow execution sent' }),
        to: PhoneNumberInput.optional(),
        since: InstantInput.optional(),
        until: InstantInput.optional(),
      }),
    },
    responses: { 200: jsonResponse(z.object({ data: z.array(SmsItem), nextCursor: z.string().nullable() })) },
  }),
  invalid: 400 as const,
};

const getRoute = createRoute({
  method: 'get',
  path: '/v1/sms/{id}',
  operationId: 'getSms',
  tags: ['SMS'],
  summary: 'Get an SMS',
  description: 'Returns the SMS with its body.',
  security: allowScopes('sms:view'),
  request: { params: IdParams },
  responses: { 200: jsonResponse(z.object({ data: SmsRecord })), ...errorResponses('NOT_FOUND') },
});

/** Registers `/v1/sms*` (contract §10.2 Sender and number). */
export function registerSmsRoutes(app: App, { config, db, reads, outbox }: Deps): void {
  app.openapi(sendRoute, async (c) => {
    if (config.sms.provider === 'none') throw new AppError('SMS_NOT_ENABLED');
    const { to, body, contactId } = c.req.valid('json');
    const number = readPhoneNumber(to);
    if (!number) throw new Error('the schema accepts only phone numbers');
    const { projectId, mode } = c.var;
    const keyFields = {
      projectId,
      key: readIdempotencyKey(c),
      fingerprint: c.get('fingerprint'),
      owner: readIdempotencyKeyOwner(c),
    };
    const queued: OutboxRow[] = [];
    const outcome = await inTransaction(db, (trx) => {
      queued.length = 0;
      return withIdempotency(trx, { ...keyFields, request: 'POST /v1/sms/send' }, async () => {
        const result = await insertSms(trx, { projectId, mode, to: number, body, contactId, marketing: false });
        queued.push(...result.outbox);
        return { statusCode: 202, response: toAcceptedSms(result.sms) };
      });
    });
    outbox.wake(queued);
    noteAffectedRows(c, { sms: [outcome.response.id] });
    return c.json(outcome.response, 202);
  });

  app.openapi(listRoute, async (c) => {
    const { items, cursor } = await listSms(reads, { projectId: c.var.projectId, ...c.req.valid('query') });
    return c.json({ data: items.map(toSmsItem), nextCursor: cursor }, 200);
  });

  app.openapi(getRoute, async (c) => {
    const { projectId } = c.var;
    const sms = await getSms(db, { projectId, id: c.req.valid('param').id });
    const { executionId } = sms;
    const workflowId = executionId === null ? null : await findWorkflowIdOfExecution(db, { projectId, executionId });
    return c.json({ data: toSmsRecord(sms, workflowId) }, 200);
  });
}
