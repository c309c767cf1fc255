import { z } from 'zod';
import { configFaults, type EffectStep } from './definition.ts';

/** What an UPDATE_CONTACT step changes. */
export const UpdateContactConfig = z.object({
  updates: z.record(z.string(), z.unknown()).default({}),
  subscribed: z.boolean().optional(),
});

/** Changes the contact's data or its consent to marketing. */
export const updateContact: EffectStep<'steps'> = {
  kind: 'effect',
  queue: 'steps',
  input: UpdateContactConfig,
  faults: ({ config }) => configFaults(UpdateContactConfig, config),
  branches: () => [null],
  names: [],
  secretsIn: [],
  sendsEmail: false,
  conditionAt: null,
  usesField: ({ updates }, key) => typeof updates === 'object' && updates !== null && key in updates,
  usesEvent: null,
};
