import type { OutgoingSms, SmsProvider } from './provider.ts';

/** Creates a provider that stores SMS instead of sending them, for development, the demo and tests. */
export function createCaptureSmsProvider(store: (sms: OutgoingSms) => Promise<void>): SmsProvider {
  return {
    kind: 'capture',
    async send(sms) {
      try {
        await store(sms);
        return { outcome: 'accepted', providerMessageId: sms.id, status: 'SENT' };
      } catch (error) {
        return {
          outcome: 'later',
          error: error instanceof Error ? error.message : String(error),
          status: 'not stored',
        };
      }
    },
  };
}
