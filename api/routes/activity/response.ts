import { z } from '@hono/zod-openapi';
import { ACTIVITY_TYPES } from '../../../rules/events/activity.ts';
import { EXAMPLE_ID, Id, Instant } from '../../http/schemas.ts';

const itemFields = {
  id: z.string(),
  timestamp: Instant,
  contactId: Id.nullable(),
  contactEmail: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
};

export const Activity = z.object({ ...itemFields, type: z.enum(ACTIVITY_TYPES) }).openapi('Activity', {
  example: {
    id: `${EXAMPLE_ID}:email.opened`,
    type: 'email.opened',
    timestamp: '2026-01-01T12:00:00.000Z',
    contactId: EXAMPLE_ID,
    contactEmail: 'ada@example.com',
    metadata: { eventName: 'email.open', emailId: EXAMPLE_ID },
  },
});

export const Upcoming = z
  .object({ ...itemFields, type: z.enum(['campaign.scheduled', 'workflow.delay']) })
  .openapi('UpcomingActivity', {
    example: {
      id: EXAMPLE_ID,
      type: 'campaign.scheduled',
      timestamp: '2026-01-01T12:00:00.000Z',
      contactId: null,
      contactEmail: null,
      metadata: { campaignId: EXAMPLE_ID, name: 'Spring' },
    },
  });
