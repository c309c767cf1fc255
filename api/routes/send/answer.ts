import { z } from '@hono/zod-openapi';
import { EmailAddressAnswer, EXAMPLE_ID, Id, Instant, success } from '../../http/schemas.ts';

export const Sent = success(
  z.object({
    emails: z.array(z.object({ contact: z.object({ id: Id, email: EmailAddressAnswer }), email: Id })),
    timestamp: Instant,
  }),
).openapi('Sent', {
  description: 'One entry a recipient, in the order of `to`; `email` is the id of its email record.',
  example: {
    success: true,
    data: {
      emails: [{ contact: { id: EXAMPLE_ID, email: 'ada@example.com' }, email: EXAMPLE_ID }],
      timestamp: '2026-01-01T12:00:00.000Z',
    },
  },
});
