import type { Config } from '../../rules/config.ts';
import type { SmsProviderKind, SmsProviderSettings } from '../../rules/sms/providers.ts';
import { captureSmsProvider } from './capture.ts';
import type { OutgoingSms, SmsProvider } from './provider.ts';
import { twilioProvider } from './twilio.ts';

interface Surroundings {
  /** The public address of this service, for callbacks. */
  publicUrl: string;
  /** Stores captured SMS. */
  store: (sms: OutgoingSms) => Promise<void>;
}

type Create<S> = (settings: S, surroundings: Surroundings) => SmsProvider;

/** How each provider sends. */
const SENDERS: { readonly [K in SmsProviderKind]: Create<SmsProviderSettings[K]> } = {
  capture: (_, { store }) => captureSmsProvider(store),
  twilio: ({ accountSid = '', authToken = '', baseUrl }, { publicUrl }) =>
    twilioProvider({
      accountSid,
      authToken,
      baseUrl,
      statusCallback: (id) => `${publicUrl}/webhooks/twilio/status?id=${id}`,
    }),
};

/**
 * Creates the provider of `SMS_PROVIDER`, one per process. Undefined if SMS is off. `store` keeps captured messages.
 */
export function createSmsProvider(
  { sms, publicUrl }: Pick<Config, 'sms' | 'publicUrl'>,
  store: Surroundings['store'],
): SmsProvider | undefined {
  return sms.provider === 'none' ? undefined : create(sms.provider, sms, { publicUrl, store });
}

function create<K extends SmsProviderKind>(kind: K, settings: Pick<SmsProviderSettings, K>, around: Surroundings) {
  const createOne: Create<SmsProviderSettings[K]> = SENDERS[kind];
  return createOne(settings[kind], around);
}
