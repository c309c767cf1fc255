import { z } from 'zod';
import { listExpressionErrors } from '../../content/expressions.ts';
import { findConsentHint, findKeyError, RESERVED_DATA_KEYS } from '../../filters/data-values.ts';
import { type EffectStep, findConfigErrors } from './definition.ts';

/** The config of an UPDATE_CONTACT step: its changes to the contact. */
export const UpdateContactConfig = z.object({
  updates: z.record(z.string(), z.unknown()).default({}),
  subscribed: z.boolean().optional(),
});

/**
 * The config in a request. Names that are not data are refused. A step that was saved before this check stores a value
 * under such a name as data.
 */
const UpdateContactInput = UpdateContactConfig.superRefine(({ updates }, ctx) => {
  for (const key of Object.keys(updates)) {
    const { message, code } = findDataKeyError(key) ?? {};
    if (message) ctx.addIssue({ code: 'custom', path: ['updates', key].filter(Boolean), message, params: { code } });
  }
  for (const fault of listExpressionErrors(updates, ['updates'])) ctx.addIssue({ code: 'custom', ...fault });
});

function findDataKeyError(key: string): { message: string; code: string } | undefined {
  const customError = (message: string) => ({ message, code: 'custom' });
  const hint = findConsentHint(key);
  if (hint !== undefined && hint === findConsentHint('subscribed'))
    return customError(`"${key}" is not data: set config.subscribed`);
  const isData = !RESERVED_DATA_KEYS.has(key) && hint === undefined;
  return isData ? findKeyError(key) : customError(`"${key}" is not data: a step cannot change it`);
}

/** Changes the contact's data or its consent to marketing. */
export const updateContact: EffectStep<'steps'> = {
  kind: 'effect',
  queue: 'steps',
  input: UpdateContactInput,
  older: UpdateContactConfig,
  faults: ({ config }) => findConfigErrors(UpdateContactInput, config),
  branches: () => [null],
  names: [],
  secretsIn: [],
  sendsEmail: false,
  conditionAt: null,
  usesField: ({ updates }, key) => typeof updates === 'object' && updates !== null && key in updates,
  usesEvent: null,
};
