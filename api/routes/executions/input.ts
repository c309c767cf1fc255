import { z } from '@hono/zod-openapi';
import { EVENT_NAME_LENGTH } from '../../../rules/events/event-names.ts';
import type { RunEvent } from '../../../rules/executions/run.ts';
import { uuidv7 } from '../../../rules/uuid.ts';
import { anyJsonObject, describeFreeJsonLimit, exceedsFreeJsonLimit } from '../../http/free-json.ts';
import { EXAMPLE_ID, Id, InstantInput } from '../../http/schemas.ts';
import { Branch } from '../workflows/response.ts';

export const WorkflowParams = z.object({ id: Id });

export const ExecutionParams = z.object({ id: Id, executionId: Id });

/** An event that occurs during a sandbox execution or a preview. */
export const RunEventInput = z
  .object({
    name: z.string().trim().min(1).max(EVENT_NAME_LENGTH),
    at: InstantInput.optional().openapi({
      description: 'When the event occurs, in simulated time. If omitted, it occurs as soon as a step waits for it.',
    }),
    data: anyJsonObject('The data of an event').nullish(),
  })
  .openapi('RunEvent', { example: { name: 'order.paid', data: { total: 40 } } });

/** Maximum number of events in a request. It is far more than a user needs. */
const RUN_EVENTS = 100;
export const RunEvents = z
  .array(RunEventInput)
  .max(RUN_EVENTS)
  .refine((events) => !exceedsFreeJsonLimit(events), { message: describeFreeJsonLimit('All events together') });

export const StartExecution = z
  .object({
    contactId: Id,
    context: anyJsonObject('The context of an execution').nullish(),
    sandbox: z.boolean().optional().openapi({
      description:
        'Tests the workflow, even if it is disabled. Emails and SMS have the mode `test`, and no webhook is called. The contact does not change, no other workflow starts, and the execution is not counted in statistics.',
    }),
    skipDelays: z.boolean().optional().openapi({
      description: 'For a sandbox: pauses end immediately. A WAIT_FOR_EVENT times out, unless one of `events` ends it.',
    }),
    events: RunEvents.optional().openapi({ description: 'For a sandbox: events that occur during the execution.' }),
  })
  .superRefine(({ sandbox, skipDelays, events }, ctx) => {
    const withoutSandbox = Object.entries({ skipDelays, events }).filter(
      ([, value]) => value !== undefined && !sandbox,
    );
    for (const [name] of withoutSandbox)
      ctx.addIssue({ code: 'custom', path: [name], message: 'Only allowed with sandbox: true' });
  })
  .openapi('StartExecution', {
    example: { contactId: EXAMPLE_ID, context: { coupon: 'SPRING' } },
  });

/** Converts the events in a request for a sandbox to the events that its execution stores. */
export function toRunEvents(events: z.output<typeof RunEvents> | undefined): RunEvent[] {
  return (events ?? []).map(({ name, at, data }) => ({
    id: uuidv7(),
    name,
    data: data ?? {},
    at: at?.toISOString() ?? null,
  }));
}

export const AdvanceExecution = z
  .object({
    branch: Branch.nullish().openapi({
      description: 'Branch to take after a WAIT_FOR_EVENT: `event` or `timeout`. Defaults to `timeout`.',
    }),
  })
  .openapi('AdvanceExecution', { example: { branch: 'event' } });
