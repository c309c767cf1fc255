import { z } from '@hono/zod-openapi';
import { EVENT_NAME_LENGTH } from '../../../rules/events/event-names.ts';
import { Id, SlugInput } from '../../http/schemas.ts';
import { TriggerType } from './answer.ts';

const EventNameInput = z.string().trim().min(1).max(EVENT_NAME_LENGTH);

export const CreateWorkflow = z
  .object({
    name: z.string().trim().min(1).max(200),
    slug: SlugInput.optional(),
    description: z.string().max(2_000).nullish(),
    triggerType: TriggerType.default('EVENT'),
    eventName: EventNameInput.nullish(),
    triggerConfig: z.object({ eventName: EventNameInput.nullish() }).nullish(),
    allowReentry: z.boolean().default(false),
  })
  .openapi('CreateWorkflow', { example: { name: 'Welcome', eventName: 'signup' } });

export const PatchWorkflow = z
  .object({
    name: z.string().trim().min(1).max(200).optional(),
    slug: SlugInput.optional(),
    description: z.string().max(2_000).nullish(),
    triggerType: TriggerType.optional(),
    eventName: EventNameInput.nullish(),
    triggerConfig: z.object({ eventName: EventNameInput.nullish() }).nullish(),
    enabled: z.boolean().optional(),
    allowReentry: z.boolean().optional(),
    entryStepId: Id.nullish(),
  })
  .openapi('PatchWorkflow', { example: { enabled: true } });
