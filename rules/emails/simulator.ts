import { normalizeEmail } from './email-address.ts';
import { judgeRefusal, type Refusal, type Reply } from './refusal.ts';

/** No one can own a name under `.test` (RFC 2606), so no one else receives email at this domain. */
export const SIMULATOR_DOMAIN = 'simulator.test';

/** Simulated feedback about an email. */
export type Simulated = 'delivery' | 'bounce' | 'softbounce' | 'complaint' | 'open' | 'click';

export interface SimulatedStep {
  what: Simulated;
  /** The time after the email was handed over. */
  afterMs: number;
}

/** The provider's reply to an attempt, and the feedback after it accepted the email. */
export interface Simulation {
  answer: 'accepted' | 'refused' | 'put_off';
  steps: readonly SimulatedStep[];
}

const SECOND_MS = 1_000;
const SLOW_MS = 10 * SECOND_MS;

const delivered = { what: 'delivery', afterMs: SECOND_MS } as const;
const DELIVERED: readonly SimulatedStep[] = [delivered];

/** The feedback by the word before `@` and any `+`. An open or click by a human comes a second after the delivery. */
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

/** Tells whether email to the address is for the simulator. It never leaves the service. */
export function isSimulatorAddress(email: string): boolean {
  return normalizeEmail(email).endsWith(`@${SIMULATOR_DOMAIN}`);
}

/** Tells whether an email is for the simulator. An email whose contact was erased is not. */
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

/** The simulator's replies, in the form of a server's. */
export const SIMULATED_REPLIES = {
  refused: reply(554, '5.6.0', 'message', 'The simulator refuses this message'),
  put_off: reply(451, '4.7.1', 'rcpt', 'The simulator asks to try again: greylisted'),
  bounce: reply(550, '5.1.1', 'dsn', 'The simulator returns this mail: user unknown'),
  softbounce: reply(452, '4.2.2', 'dsn', 'The simulator returns this mail: mailbox full'),
} as const;

/** Classifies a simulated bounce by the rule for real ones. */
export function simulatedBounce(what: 'bounce' | 'softbounce'): { refusal: Refusal; words: string } {
  const { code, text } = SIMULATED_REPLIES[what];
  return { refusal: judgeRefusal(SIMULATED_REPLIES[what]), words: `${code} ${text}` };
}

function reply<S extends Reply['stage']>(code: number, enhanced: string, stage: S, words: string) {
  return { code, enhanced, stage, text: `${enhanced} ${words}` };
}
