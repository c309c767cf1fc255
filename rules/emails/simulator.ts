import { normalizeEmail } from './email-address.ts';
import { judgeRefusal, type Refusal, type Reply } from './refusal.ts';

/** No one can own a name under `.test` (RFC 2606), so the simulator takes no one's email. */
export const SIMULATOR_DOMAIN = 'simulator.test';

/** Simulated feedback about an email. */
export type Simulated = 'delivery' | 'bounce' | 'softbounce' | 'complaint' | 'open' | 'click';

export interface SimulatedStep {
  what: Simulated;
  /** From when the mail was handed over. */
  afterMs: number;
}

/** The provider's answer to an attempt, and what comes back once it took the mail. */
export interface Simulation {
  answer: 'accepted' | 'refused' | 'put_off';
  steps: readonly SimulatedStep[];
}

const SECOND_MS = 1_000;
const SLOW_MS = 10 * SECOND_MS;

const delivered = { what: 'delivery', afterMs: SECOND_MS } as const;
const DELIVERED: readonly SimulatedStep[] = [delivered];

/** By the word before `@` and any `+`. A person's hit comes a second after the mail did, as reading takes. */
const CHAINS: Readonly<Record<string, readonly SimulatedStep[]>> = {
  delivered: DELIVERED,
  defer: DELIVERED,
  slow: [{ what: 'delivery', afterMs: SLOW_MS }],
  bounce: [{ what: 'bounce', afterMs: SECOND_MS }],
  softbounce: [{ what: 'softbounce', afterMs: SECOND_MS }],
  complaint: [delivered, { what: 'complaint', afterMs: 2 * SECOND_MS }],
  open: [delivered, { what: 'open', afterMs: 2 * SECOND_MS }],
  click: [delivered, { what: 'open', afterMs: 2 * SECOND_MS }, { what: 'click', afterMs: 3 * SECOND_MS }],
};

/** Whether mail to the address is for the simulator: it never leaves. */
export function isSimulatorAddress(email: string): boolean {
  return normalizeEmail(email).endsWith(`@${SIMULATOR_DOMAIN}`);
}

/** The same of a mail; one whose contact was erased is to nobody. */
export function isSimulated({ to }: { to: { email: string } | null }): boolean {
  return to !== null && isSimulatorAddress(to.email);
}

/** Returns the outcome of the `attempts`-th attempt to send an email to the simulator. An unknown name is delivered. */
export function simulationOf(email: string, attempts: number): Simulation {
  const word = /^[^+@]*/.exec(normalizeEmail(email))?.[0] ?? '';
  if (word === 'reject') return { answer: 'refused', steps: [] };
  if (word === 'defer' && attempts <= 1) return { answer: 'put_off', steps: [] };
  return { answer: 'accepted', steps: (Object.hasOwn(CHAINS, word) ? CHAINS[word] : undefined) ?? DELIVERED };
}

/** Replies in the form that servers send them. */
export const SIMULATED_REPLIES = {
  refused: reply(554, '5.6.0', 'message', 'The simulator refuses this message'),
  put_off: reply(451, '4.7.1', 'rcpt', 'The simulator asks to try again: greylisted'),
  bounce: reply(550, '5.1.1', 'dsn', 'The simulator returns this mail: user unknown'),
  softbounce: reply(452, '4.2.2', 'dsn', 'The simulator returns this mail: mailbox full'),
} as const;

/** Judges a simulated bounce as every other one. */
export function simulatedBounce(what: 'bounce' | 'softbounce'): { refusal: Refusal; words: string } {
  const { code, text } = SIMULATED_REPLIES[what];
  return { refusal: judgeRefusal(SIMULATED_REPLIES[what]), words: `${code} ${text}` };
}

function reply<S extends Reply['stage']>(code: number, enhanced: string, stage: S, words: string) {
  return { code, enhanced, stage, text: `${enhanced} ${words}` };
}
