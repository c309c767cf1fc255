import type { EmailProvider, OutgoingEmail, ProviderResult } from './provider.ts';

/** Stores email instead of sending it, for development, the demo and tests. Calls `store` once per message. */
export function captureProvider(store: (message: OutgoingEmail) => Promise<void>): EmailProvider {
  const underWay = new Set<Promise<unknown>>();
  let closed = false;

  const send = async (message: OutgoingEmail, signal?: AbortSignal): Promise<ProviderResult> => {
    if (closed) return { outcome: 'unsent', error: 'the provider is closed' };
    if (signal?.aborted) return { outcome: 'unsent', error: 'aborted' };
    const stored = store(message);
    underWay.add(stored);
    try {
      await stored;
      return { outcome: 'accepted', providerMessageId: message.id, reply: 'captured' };
    } catch (error) {
      return { outcome: 'unsent', error: error instanceof Error ? error.message : String(error) };
    } finally {
      underWay.delete(stored);
    }
  };

  return {
    kind: 'capture',
    send,
    submit: (message, onResult) => {
      void send(message).then((result) => onResult(result, message));
      return () => false;
    },
    close: async () => {
      closed = true;
      await Promise.allSettled(underWay);
    },
  };
}
