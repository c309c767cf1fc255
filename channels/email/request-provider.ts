import type { EmailProvider, OutgoingEmail, ProviderResult } from './provider.ts';

/**
 * Creates a provider that sends each message with a separate request, as mail APIs do. The requests run concurrently,
 * so no message waits for another message. A message of `submit` cannot be withdrawn, because its request starts at
 * once. `p.send` must never reject.
 */
export function createRequestProvider(p: {
  kind: EmailProvider['kind'];
  send: (message: OutgoingEmail, signal?: AbortSignal) => Promise<ProviderResult>;
  /** Called after the last request has ended. */
  close?: () => Promise<void>;
}): EmailProvider {
  const running = new Set<Promise<ProviderResult>>();
  let closed = false;

  const send = async (message: OutgoingEmail, signal?: AbortSignal): Promise<ProviderResult> => {
    if (closed) return { outcome: 'unsent', error: 'the provider is closed' };
    if (signal?.aborted) return { outcome: 'unsent', error: 'aborted' };
    const sending = p.send(message, signal);
    running.add(sending);
    return sending.finally(() => running.delete(sending));
  };

  return {
    kind: p.kind,
    send,
    submit: (message, onResult) => {
      void send(message).then((result) => onResult(result, message));
      return () => false;
    },
    close: async () => {
      closed = true;
      await Promise.all(running);
      await p.close?.();
    },
  };
}
