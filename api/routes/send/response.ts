import { z } from '@hono/zod-openapi';
import { errorResponses } from '../../http/responses.ts';
import { EmailAddressResponse, EXAMPLE_ID, Id, Instant, successEnvelope } from '../../http/schemas.ts';

/** Errors of a send, in addition to the errors that every operation may return. */
export const SEND_ERRORS = errorResponses(
  'DOMAIN_NOT_VERIFIED',
  'CONTACT_UNSUBSCRIBED',
  'TEMPLATE_NOT_FOUND',
  'BILLING_LIMIT_EXCEEDED',
);

export const Sent = successEnvelope(
  z.object({
    emails: z.array(
      z.object({
        contact: z.object({ id: Id, email: EmailAddressResponse }),
        email: Id,
        role: z.enum(['cc', 'bcc']).optional().openapi({ description: 'Set for a copy' }),
      }),
    ),
    skipped: z
      .array(z.object({ email: EmailAddressResponse, reason: z.enum(['suppressed', 'unsubscribed']) }))
      .optional()
      .openapi({ description: 'Copies that are not sent, with the reason' }),
    timestamp: Instant,
  }),
).openapi('Sent', {
  description: 'One entry per recipient, in the order of `to`, `cc` and `bcc`. `email` is the id of the email record.',
  example: {
    success: true,
    data: {
      emails: [{ contact: { id: EXAMPLE_ID, email: 'ada@example.com' }, email: EXAMPLE_ID }],
      timestamp: '2026-01-01T12:00:00.000Z',
    },
  },
});

const BatchError = z
  .object({
    code: z.string(),
    message: z.string(),
    statusCode: z.number().int(),
    errors: z.array(z.object({ field: z.string(), message: z.string(), code: z.string() })).optional(),
    details: z.record(z.string(), z.unknown()).optional(),
    suggestion: z.string(),
  })
  .openapi('BatchError');

export const BatchSent = successEnvelope(
  z.object({
    results: z.array(
      z.union([
        z.object({ success: z.literal(true), data: Sent.shape.data }),
        z.object({ success: z.literal(false), error: BatchError }),
      ]),
    ),
    accepted: z.number().int(),
    refused: z.number().int(),
    timestamp: Instant,
  }),
).openapi('BatchSent', {
  description: 'One entry per email, in the order of `emails`, as `POST /v1/send` would return it.',
});
