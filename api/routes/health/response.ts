import { z } from '@hono/zod-openapi';
import { Id } from '../../http/schemas.ts';
import { Hold } from '../project/response.ts';

export const Health = z.object({ status: z.literal('ok') }).openapi('Health', { example: { status: 'ok' } });

export const ServiceHealth = Health.extend({
  project: z.object({ id: Id, hold: Hold }).optional(),
}).openapi('ServiceHealth', { example: { status: 'ok' } });

export const ReadyHealth = Health.extend({
  details: z.object({
    outbox: z
      .object({
        waiting: z.number().int(),
        handedOver: z.number().int(),
        oldestSeconds: z.number(),
        kinds: z.array(
          z.object({
            kind: z.string(),
            waiting: z.number().int(),
            handedOver: z.number().int(),
            oldestSeconds: z.number(),
          }),
        ),
      })
      .openapi({
        description:
          'Accepted work that has not started: the number of waiting rows of the outbox, of rows whose workflow waits in Temporal for its first task, and the age of the oldest row. The values are at most five seconds old. The metrics `tidings_outbox_*` show them by project.',
      }),
  }),
}).openapi('ReadyHealth', {
  example: {
    status: 'ok',
    details: {
      outbox: {
        waiting: 120,
        handedOver: 12,
        oldestSeconds: 4.2,
        kinds: [{ kind: 'execution.start', waiting: 120, handedOver: 12, oldestSeconds: 4.2 }],
      },
    },
  },
});
