import { isSimulatorAddress, SIMULATED_REPLIES, type Simulation } from '../../rules/emails/simulator.ts';
import type { EmailProvider, OutgoingEmail, ProviderResult } from './provider.ts';

/** Stores a message where a person can view it, and queues the simulated feedback. Returns the simulator's reply. */
export type KeepSimulated = (message: OutgoingEmail) => Promise<Simulation['answer']>;

/**
 * Wraps a provider so that email to simulator addresses never reaches it. The simulator's replies look like replies of
 * a mail server and have the usual effects: accepted email is SENT, refused email bounces, and deferred email is
 * retried.
 */
export function withSimulator(provider: EmailProvider, keep: KeepSimulated): EmailProvider {
  const running = new Set<Promise<unknown>>();

  async function simulate(message: OutgoingEmail, signal?: AbortSignal): Promise<ProviderResult> {
    if (signal?.aborted) return { outcome: 'unsent', error: 'aborted' };
    const stored = keep(message);
    running.add(stored);
    try {
      return toProviderResult(await stored);
    } catch (error) {
      return { outcome: 'unsent', error: error instanceof Error ? error.message : String(error) };
    } finally {
      running.delete(stored);
    }
  }

  return {
    ...provider,
    send: (message, signal) =>
      isSimulatorAddress(message.to) ? simulate(message, signal) : provider.send(message, signal),
    submit(message, onResult) {
      if (!isSimulatorAddress(message.to)) return provider.submit(message, onResult);
      void simulate(message).then((result) => onResult(result, message));
      return () => false;
    },
    async close() {
      await Promise.allSettled(running);
      await provider.close();
    },
  };
}

function toProviderResult(answer: Simulation['answer']): ProviderResult {
  if (answer === 'accepted') return { outcome: 'accepted', providerMessageId: null, reply: 'simulated' };
  return { outcome: 'refused', permanent: answer === 'refused', ...SIMULATED_REPLIES[answer] };
}
