import { z } from '@hono/zod-openapi';
import { PUBLIC_KEY_MODES } from '../../../db/projects/projects.ts';
import { EXAMPLE_ID, Id, Instant, successEnvelope } from '../../http/schemas.ts';

export const TrackedEvent = successEnvelope(
  z.object({
    contact: Id.openapi({
      description:
        'Id of the contact. With the public key, a value that is always the same for an address, but is not the id of a record.',
    }),
    event: Id,
    timestamp: Instant,
    mode: z.enum(PUBLIC_KEY_MODES).optional().openapi({
      description: 'Rules for the public key (`publicKeyMode` of the project). Absent for a secret key.',
    }),
  }),
).openapi('TrackedEvent', {
  example: {
    success: true,
    data: {
      contact: EXAMPLE_ID,
      event: '0190a000-0000-7000-8000-000000000001',
      timestamp: '2026-01-01T12:00:00.000Z',
    },
  },
});
