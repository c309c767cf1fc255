import type { Config } from '../../rules/config.ts';
import type { SmsProviderKind, SmsProviderSettings } from '../../rules/sms/providers.ts';
import { createCaptureSmsProvider } from './capture.ts';
import type { OutgoingSms, SmsProvider } from './provider.ts';
import { createTwilioProvider } from './twilio.ts';

interface SmsContext {
  /** The public address of this service, for callbacks. */
  publicUrl: string;
  /** Stores captured SMS. */
  store: (sms: OutgoingSms) => Promise<void>;
}

type Create<S> = (settings: S, context: SmsContext) => SmsProvider;

/** For each kind of provider, the function that creates it. */
const SENDERS: { readonly [K in SmsProviderKind]: Create<SmsProviderSettings[K]> } = {
  capture: (_, { store }) => createCaptureSmsProvider(store),
  twilio: ({ accountSid = '', authToken = '', baseUrl }, { publicUrl }) =>
    createTwilioProvider({
      accountSid,
      authToken,
      baseUrl,
      statusCallback: (id) => `${publicUrl}/webhooks/twilio/status?id=${id}`,
    }),
};

/**
 * Creates the provider that the variable `SMS_PROVIDER` selects. Undefined if SMS is off. With the provider `capture`,
 * `store` receives each SMS.
 */
export function createSmsProvider(
  { sms, publicUrl }: Pick<Config, 'sms' | 'publicUrl'>,
  store: SmsContext['store'],
): SmsProvider | undefined {
  return sms.provider === 'none' ? undefined : createForKind(sms.provider, sms, { publicUrl, store });
}

function createForKind<K extends SmsProviderKind>(
  kind: K,
  settings: Pick<SmsProviderSettings, K>,
  context: SmsContext,
) {
  const createOne: Create<SmsProviderSettings[K]> = SENDERS[kind];
  return createOne(settings[kind], context);
}
