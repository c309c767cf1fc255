import { z } from '@hono/zod-openapi';
import { ERRORS, type ErrorCode } from '../../../rules/errors.ts';
import { cursorQuery, EXAMPLE_ID, InstantInput } from '../../http/schemas.ts';

const LIST_DEFAULT = 50;

const RequestId = z.string().min(1).max(128);

/** Filters of the list of requests, combined with AND. */
export const ListRequests = cursorQuery(LIST_DEFAULT).extend({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).optional(),
  route: z.string().min(1).max(200).optional().openapi({
    description: 'Path of the operation, as in this document',
    example: '/v1/send',
  }),
  status: z
    .string()
    .regex(/^[1-5](xx|\d\d)$/, 'A status such as 404, or a class such as 4xx')
    .optional()
    .openapi({ description: 'A status or a class of statuses', example: '4xx' }),
  errorCode: z
    .enum(Object.keys(ERRORS) as ErrorCode[])
    .optional()
    .openapi({ type: 'string', enum: undefined, example: 'NOT_FOUND' }),
  keyId: z.uuid().optional().openapi({ description: 'Only requests with this secret key', example: EXAMPLE_ID }),
  requestId: RequestId.optional(),
  made: z.uuid().optional().openapi({
    description:
      'Id of an email, SMS, execution, event or contact. Finds the request that created this record, and later requests with the same Idempotency-Key. A request is also found if it recorded an event, the event started an execution, and the execution created the record.',
    example: EXAMPLE_ID,
  }),
  since: InstantInput.optional(),
  until: InstantInput.optional(),
});

export const RequestParams = z.object({
  requestId: RequestId.openapi({
    description:
      'The `X-Request-Id` of the response, or the `id` of the entry. If several entries have the X-Request-Id, the newest is returned.',
    example: EXAMPLE_ID,
  }),
});

/** Converts `4xx` or `404` to a range of statuses, with both ends included. */
export function parseStatusRange(status: string | undefined): { least: number; most: number } | undefined {
  if (status === undefined) return undefined;
  const isClass = status.endsWith('xx');
  const least = Number(status.replace('xx', '00'));
  return { least, most: isClass ? least + 99 : least };
}
