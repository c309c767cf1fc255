import { z } from '@hono/zod-openapi';
import { EVENT_NAME_LENGTH } from '../../../rules/events/event-names.ts';
import { ListenedEventInput } from '../../../rules/events/listened-event.ts';
import { EXITS_MAX, ExitOnInput } from '../../../rules/executions/exits.ts';
import { REENTRY_KEY_ERROR, REENTRY_KEY_PATTERN } from '../../../rules/executions/reentry-key.ts';
import { resolveAliases } from '../../http/aliases.ts';
import { ReadUpdatedAt } from '../../http/record-version.ts';
import { Id, SlugInput } from '../../http/schemas.ts';
import { TriggerType } from './response.ts';

/** Exit events of a workflow in a request. Null means none. If the field is omitted, the stored exit events stay. */
const ExitOn = ExitOnInput.nullish().openapi('ExitOn', {
  type: ['array', 'null'],
  maxItems: EXITS_MAX,
  items: {
    type: 'object',
    properties: {
      eventName: { type: 'string', minLength: 1, maxLength: EVENT_NAME_LENGTH },
      filters: { description: "Filters on the event's data, like the filters of a WAIT_FOR_EVENT." },
      includeAutomatic: {
        type: 'boolean',
        description:
          'Whether automatic emails (out-of-office replies, list and bulk email) end executions on `email.received`. Defaults to false.',
      },
    },
    required: ['eventName'],
  },
  description:
    'Events that end the executions of their contact at once, at any step. These executions are EXITED with the reason `exited_on_event`. A change also applies to running executions.',
  example: [{ eventName: 'purchase' }],
});

const IncludeAutomatic = z.boolean().optional().openapi({
  description:
    'Whether automatic emails (out-of-office replies, list and bulk email) start executions on `email.received`. Defaults to false.',
});
const TriggerConfig = z
  .object({ eventName: ListenedEventInput.nullish(), includeAutomatic: IncludeAutomatic })
  .nullish();

const ReentryKey = z.string().regex(REENTRY_KEY_PATTERN, REENTRY_KEY_ERROR).nullish().openapi({
  description:
    'Path of a value in the event or the context, such as `event.cartId`. A contact can then have one active execution for each value. If `reentryKey` is null, a contact can have only one active execution.',
  example: 'event.cartId',
});

export const CreateWorkflow = z
  .object({
    name: z.string().trim().min(1).max(200),
    slug: SlugInput.optional(),
    description: z.string().max(2_000).nullish(),
    triggerType: TriggerType.default('EVENT'),
    eventName: ListenedEventInput.nullish(),
    triggerConfig: TriggerConfig,
    includeAutomatic: IncludeAutomatic,
    allowReentry: z.boolean().default(false),
    reentryKey: ReentryKey,
    exitOn: ExitOn,
    exitWhenUnsubscribed: z.boolean().default(false),
  })
  .openapi('CreateWorkflow', { example: { name: 'Welcome', eventName: 'signup' } });

export const PatchWorkflow = z
  .object({
    updatedAt: ReadUpdatedAt,
    name: z.string().trim().min(1).max(200).optional(),
    slug: SlugInput.optional(),
    description: z.string().max(2_000).nullish(),
    triggerType: TriggerType.optional(),
    eventName: ListenedEventInput.nullish(),
    triggerConfig: TriggerConfig,
    includeAutomatic: IncludeAutomatic,
    enabled: z.boolean().optional(),
    allowReentry: z.boolean().optional(),
    reentryKey: ReentryKey,
    exitOn: ExitOn,
    exitWhenUnsubscribed: z.boolean().optional(),
    entryStepId: Id.nullish(),
  })
  .openapi('PatchWorkflow', { example: { enabled: true } });

interface Trigger {
  eventName?: string | null | undefined;
  includeAutomatic?: boolean | undefined;
}

/** The trigger of a new workflow without an event name. */
export const NO_TRIGGER = { eventName: null, includeAutomatic: false };

/**
 * Returns the trigger fields of a request. Each field may be at the top level or in `triggerConfig`. A field that is in
 * neither is undefined.
 */
export function readRequestedTrigger(
  body: Trigger & { triggerConfig?: Trigger | null | undefined },
  stored?: Trigger,
): Trigger {
  const { eventName, includeAutomatic, triggerConfig } = body;
  return {
    eventName: resolveAliases({ eventName, 'triggerConfig.eventName': triggerConfig?.eventName }, stored?.eventName),
    includeAutomatic: resolveAliases(
      { includeAutomatic, 'triggerConfig.includeAutomatic': triggerConfig?.includeAutomatic },
      stored?.includeAutomatic,
    ),
  };
}
