import { z } from '@hono/zod-openapi';
import { EXAMPLE_ID, Id } from '../../http/schemas.ts';
import { WorkflowDetailSchema } from '../workflows/response.ts';

const Fault = z.object({ field: z.string(), message: z.string(), code: z.string() });

export const SavedGraph = z
  .object({
    workflow: WorkflowDetailSchema,
    ids: z
      .record(z.string(), Id)
      .openapi({ description: 'Stored ids of new steps, by the `id` that each has in the request.' }),
    faults: z.array(Fault).openapi({
      description:
        'Errors that prevent the workflow from being enabled. The `field` of an error about a step is `steps.<id>`, with the `id` of the step in the request.',
    }),
    dryRun: z.boolean(),
  })
  .openapi('SavedWorkflowGraph', {
    example: {
      workflow: {
        id: EXAMPLE_ID,
        name: 'Welcome',
        slug: 'welcome',
        description: null,
        triggerType: 'EVENT',
        eventName: 'signup',
        triggerConfig: { eventName: 'signup', includeAutomatic: false },
        enabled: false,
        allowReentry: false,
        reentryKey: null,
        entryStepId: null,
        exitOn: [],
        exitWhenUnsubscribed: false,
        includeAutomatic: false,
        createdAt: '2026-01-01T12:00:00.000Z',
        updatedAt: '2026-01-01T12:00:00.000Z',
        version: 'q1Z0yQmYqv0m0Vd3i4XJ5g',
        steps: [],
        transitions: [],
      },
      ids: { 'new-1': EXAMPLE_ID },
      dryRun: false,
      faults: [{ field: 'steps', message: 'the workflow has no steps', code: 'custom' }],
    },
  });
