import type { Config } from '../../domain/config.ts';
import { captureSmsProvider } from './capture.ts';
import type { OutgoingSms, SmsProvider } from './provider.ts';
import { twilioProvider } from './twilio.ts';

/** The provider of `SMS_PROVIDER`, or undefined where SMS is off; one a process. `store` keeps what is captured. */
export function createSmsProvider(
  config: Pick<Config, 'sms' | 'publicUrl'>,
  store: (sms: OutgoingSms) => Promise<void>,
): SmsProvider | undefined {
  const { provider, twilioAccountSid, twilioAuthToken, twilioBaseUrl } = config.sms;
  if (provider === 'none') return undefined;
  if (provider === 'capture') return captureSmsProvider(store);
  return twilioProvider({
    accountSid: twilioAccountSid ?? '',
    authToken: twilioAuthToken ?? '',
    baseUrl: twilioBaseUrl,
    statusCallback: (id) => `${config.publicUrl}/webhooks/twilio/status?id=${id}`,
  });
}
