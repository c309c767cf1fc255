import type { ProviderConfig, SettingsOf } from '../config/provider.ts';
import { httpUrl, text } from '../config/texts.ts';
import type { Variables } from '../config/variable.ts';

/**
 * Traits of an SMS provider that the rest of the service needs. Code outside the provider's files reads only these
 * traits, and does not mention the provider.
 */
interface SmsProviderTraits {
  /** True if the provider stores SMS for development instead of sending them. */
  readonly captures: boolean;
}

/** All SMS providers with their variables and traits. `channels/sms/providers.ts` has the code that sends. */
export const SMS_PROVIDERS = {
  capture: defineProvider({ captures: true, variables: {}, settings: () => ({}), needs: () => ({}) }),
  twilio: defineProvider({
    captures: false,
    variables: {
      TWILIO_ACCOUNT_SID: {
        schema: text,
        takes: 'a Twilio account SID',
        about: 'Account of `SMS_PROVIDER=twilio`.',
      },
      TWILIO_AUTH_TOKEN: {
        schema: text,
        takes: 'a Twilio auth token',
        about: 'Token of `TWILIO_ACCOUNT_SID`; also checks the signature of callbacks.',
        secret: true,
      },
      TWILIO_BASE_URL: {
        schema: httpUrl,
        takes: 'an http:// or https:// address',
        defaultText: "Twilio's own",
        about: "Another server with Twilio's API (for tests).",
      },
    },
    settings: (values) => ({
      accountSid: values.TWILIO_ACCOUNT_SID,
      authToken: values.TWILIO_AUTH_TOKEN,
      baseUrl: values.TWILIO_BASE_URL,
    }),
    needs: (twilio) => ({ TWILIO_ACCOUNT_SID: twilio.accountSid, TWILIO_AUTH_TOKEN: twilio.authToken }),
  }),
};

export type SmsProviderKind = keyof typeof SMS_PROVIDERS;
/** The settings of every SMS provider, by its kind. */
export type SmsProviderSettings = SettingsOf<typeof SMS_PROVIDERS>;

function defineProvider<const V extends Variables, S>(definition: SmsProviderTraits & ProviderConfig<V, S>) {
  return definition;
}
