import type { EmailProvider, OutgoingEmail } from './provider.ts';
import { createRequestProvider } from './request-provider.ts';

/**
 * Creates a provider that stores email instead of sending it, for development, the demo and tests. The provider calls
 * `store` once for each message.
 */
export function createCaptureProvider(store: (message: OutgoingEmail) => Promise<void>): EmailProvider {
  return createRequestProvider({
    kind: 'capture',
    send: async (message) => {
      try {
        await store(message);
        return { outcome: 'accepted', providerMessageId: message.id, reply: 'captured' };
      } catch (error) {
        return { outcome: 'unsent', error: error instanceof Error ? error.message : String(error) };
      }
    },
  });
}
