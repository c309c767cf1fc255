import { z } from 'zod';
import { listExpressionErrors } from '../../content/expressions.ts';
import { consentPlaceOf, keyFault, RESERVED_DATA_KEYS } from '../../filters/data-values.ts';
import { configFaults, type EffectStep } from './definition.ts';

/** Changes of an UPDATE_CONTACT step. */
export const UpdateContactConfig = z.object({
  updates: z.record(z.string(), z.unknown()).default({}),
  subscribed: z.boolean().optional(),
});

/** Refuses names that are not data when a config is saved. A step that was saved before stores such a name as data. */
const UpdateContactInput = UpdateContactConfig.superRefine(({ updates }, ctx) => {
  for (const key of Object.keys(updates)) {
    const { message, code } = refusalOf(key) ?? {};
    if (message) ctx.addIssue({ code: 'custom', path: ['updates', key].filter(Boolean), message, params: { code } });
  }
  for (const fault of listExpressionErrors(updates, ['updates'])) ctx.addIssue({ code: 'custom', ...fault });
});

function refusalOf(key: string): { message: string; code: string } | undefined {
  const custom = (message: string) => ({ message, code: 'custom' });
  const place = consentPlaceOf(key);
  if (place !== undefined && place === consentPlaceOf('subscribed'))
    return custom(`"${key}" is not data: set config.subscribed`);
  const isData = !RESERVED_DATA_KEYS.has(key) && place === undefined;
  return isData ? keyFault(key) : custom(`"${key}" is not data: a step cannot change it`);
}

/** Changes the contact's data or its consent to marketing. */
export const updateContact: EffectStep<'steps'> = {
  kind: 'effect',
  queue: 'steps',
  input: UpdateContactInput,
  older: UpdateContactConfig,
  faults: ({ config }) => configFaults(UpdateContactInput, config),
  branches: () => [null],
  names: [],
  secretsIn: [],
  sendsEmail: false,
  conditionAt: null,
  usesField: ({ updates }, key) => typeof updates === 'object' && updates !== null && key in updates,
  usesEvent: null,
};
