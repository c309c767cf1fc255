import { z } from 'zod';
import { SMS_PROVIDERS, type SmsProviderKind } from '../sms/providers.ts';
import { findMissingVariable, joinChoices, mergeVariables, readProviderSettings } from './provider.ts';
import type { Environment, ValuesOf, Variables } from './variable.ts';

const KINDS = Object.keys(SMS_PROVIDERS) as SmsProviderKind[];
/** SMS can be off, unlike email. */
const CHOICES = [...KINDS, 'none' as const];
const SENDING = CHOICES.filter((kind) => kind === 'none' || !SMS_PROVIDERS[kind].captures);

/** Variables for the SMS provider. */
export const SMS = {
  SMS_PROVIDER: {
    schema: z.enum(CHOICES),
    takes: joinChoices(CHOICES),
    defaultText: '`capture` if `HOST` is loopback and email is captured, else `none`',
    about: `SMS provider: \`capture\` stores SMS at \`/mailbox/sms.json\` (development only), ${SENDING.map((kind) => `\`${kind}\``).join(', ')}.`,
  },
  ...mergeVariables(SMS_PROVIDERS),
} as const satisfies Variables;

/**
 * Returns the settings of SMS: the chosen provider, and the settings of each provider by its kind. If `developing` is
 * true and no provider is set, SMS are captured.
 */
export function readSmsSettings(values: ValuesOf<typeof SMS>, env: Environment, developing: boolean) {
  const provider = values.SMS_PROVIDER ?? (developing ? 'capture' : 'none');
  return {
    ...readProviderSettings(SMS_PROVIDERS, values, env),
    /** `none` means that SMS are off. */
    provider,
    /** True if SMS are stored for development instead of sent. */
    captures: provider !== 'none' && SMS_PROVIDERS[provider].captures,
  };
}

/** Returns the missing variable that the chosen provider requires. Undefined if none is missing. */
export function findMissingSmsVariable(sms: ReturnType<typeof readSmsSettings>): string | undefined {
  return sms.provider === 'none' ? undefined : findMissingVariable(SMS_PROVIDERS[sms.provider], sms[sms.provider]);
}

/** Lists the values of `SMS_PROVIDER` that do not capture SMS, for an error message. */
export function describeSmsProviders(): string {
  return joinChoices(SENDING);
}
