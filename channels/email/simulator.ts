import { isSimulatorAddress, SIMULATED_REPLIES, type Simulation } from '../../rules/emails/simulator.ts';
import type { EmailProvider, OutgoingEmail, ProviderResult } from './provider.ts';

/**
 * Keeps a message where a person can look at it, with what is to come back about it, durably; says what the simulator
 * answers.
 */
export type KeepSimulated = (message: OutgoingEmail) => Promise<Simulation['answer']>;

/**
 * The same provider, but that mail to the simulator never reaches it. Its answers are those of a server, so all that
 * follows from them is what follows for everybody: what is accepted is SENT, what is refused bounces, and what is put
 * off is tried again.
 */
export function withSimulator(provider: EmailProvider, keep: KeepSimulated): EmailProvider {
  const underWay = new Set<Promise<unknown>>();

  async function simulate(message: OutgoingEmail, signal?: AbortSignal): Promise<ProviderResult> {
    if (signal?.aborted) return { outcome: 'unsent', error: 'aborted' };
    const kept = keep(message);
    underWay.add(kept);
    try {
      return resultOf(await kept);
    } catch (error) {
      return { outcome: 'unsent', error: error instanceof Error ? error.message : String(error) };
    } finally {
      underWay.delete(kept);
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
      await Promise.allSettled(underWay);
      await provider.close();
    },
  };
}

function resultOf(answer: Simulation['answer']): ProviderResult {
  if (answer === 'accepted') return { outcome: 'accepted', providerMessageId: null, reply: 'simulated' };
  return { outcome: 'refused', permanent: answer === 'refused', ...SIMULATED_REPLIES[answer] };
}
