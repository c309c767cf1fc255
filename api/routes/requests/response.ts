import { z } from '@hono/zod-openapi';
import type { LoggedRequest } from '../../../db/requests/request-log.ts';
import { EMAIL_STATUSES } from '../../../rules/emails/email-status.ts';
import { SMS_STATUSES } from '../../../rules/sms/status.ts';
import { EXAMPLE_ID, Id, Instant } from '../../http/schemas.ts';
import { ExecutionStatusSchema } from '../workflows/response.ts';

const EXAMPLE = {
  id: EXAMPLE_ID,
  requestId: '7f3c1c9e-6a40-4a53-9a7b-5d6a4a3f1f10',
  method: 'POST',
  route: '/v1/send',
  status: 200,
  ms: 12.4,
  by: 'key' as const,
  keyId: EXAMPLE_ID,
  userId: null,
  errorCode: null,
  createdAt: '2026-01-01T12:00:00.000Z',
};

export const RequestRecord = z
  .object({
    id: Id,
    requestId: z.string().openapi({ description: 'The `X-Request-Id` of the response, which the caller may have set' }),
    method: z.string(),
    route: z.string().openapi({ description: 'Path as in this document, without ids and query' }),
    status: z.number().int(),
    ms: z.number().openapi({ description: 'Milliseconds until the response started' }),
    by: z
      .enum(['key', 'user', 'public'])
      .openapi({ description: 'The sender of the request: a secret key, a user, or the public key' }),
    keyId: Id.nullable(),
    userId: Id.nullable(),
    errorCode: z.string().nullable(),
    createdAt: Instant,
  })
  .openapi('LoggedRequest', { example: EXAMPLE });

export const RequestPage = z
  .object({ data: z.array(RequestRecord), cursor: z.string().nullable(), hasMore: z.boolean() })
  .openapi('LoggedRequestList', { example: { data: [EXAMPLE], cursor: null, hasMore: false } });

const Effects = z.object({
  contacts: z.array(z.object({ id: Id, email: z.string() })),
  events: z.array(z.object({ id: Id, name: z.string(), contactId: Id.nullable() })),
  executions: z.array(
    z.object({ id: Id, workflowId: Id, workflowName: z.string(), contactId: Id, status: ExecutionStatusSchema }),
  ),
  emails: z.array(
    z.object({
      id: Id,
      contactId: Id.nullable(),
      executionId: Id.nullable(),
      to: z.string().nullable(),
      status: z.enum(EMAIL_STATUSES),
      reason: z.string().nullable(),
    }),
  ),
  sms: z.array(
    z.object({
      id: Id,
      executionId: Id.nullable(),
      to: z.string(),
      status: z.enum(SMS_STATUSES),
      reason: z.string().nullable(),
    }),
  ),
});

export const RequestDetail = RequestRecord.extend({
  made: Effects.openapi({
    description: 'Records that the request created or changed, as they are now: the first 100 of each kind',
  }),
}).openapi('LoggedRequestDetail', {
  example: {
    ...EXAMPLE,
    made: {
      contacts: [],
      events: [],
      executions: [],
      emails: [
        {
          id: EXAMPLE_ID,
          contactId: EXAMPLE_ID,
          executionId: null,
          to: 'ada@example.com',
          status: 'SENT' as const,
          reason: null,
        },
      ],
      sms: [],
    },
  },
});

/** Converts a request to its response in a list, without `made`, which only `GET /v1/requests/{requestId}` returns. */
export function toRequestResponse({ actor, made: _, ...request }: LoggedRequest): z.output<typeof RequestRecord> {
  const [kind, id = null] = actor.split(':');
  return {
    ...request,
    ms: Math.round(request.ms * 10) / 10,
    by: kind === 'key' || kind === 'user' ? kind : 'public',
    keyId: kind === 'key' ? id : null,
    userId: kind === 'user' ? id : null,
    createdAt: request.createdAt.toISOString(),
  };
}
