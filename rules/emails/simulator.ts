import { normalizeEmail } from './email-address.ts';
import { classifyRefusal, type Refusal, type Reply } from './refusal.ts';

/**
 * The domain of the simulator. No one can own a name under `.test` (RFC 2606), so email to this domain never reaches a
 * real recipient.
 */
export const SIMULATOR_DOMAIN = 'simulator.test';

/** Simulated feedback about an email. */
export type Simulated = 'delivery' | 'bounce' | 'softbounce' | 'complaint' | 'open' | 'click';

export interface SimulatedStep {
  what: Simulated;
  /** The time between the acceptance of the email and this feedback. */
  afterMs: number;
}

/** The simulated reply to an attempt, and the simulated feedback after the email is accepted. */
export interface Simulation {
  answer: 'accepted' | 'refused' | 'put_off';
  steps: readonly SimulatedStep[];
}

const SECOND_MS = 1_000;
const SLOW_MS = 10 * SECOND_MS;

const delivered = { what: 'delivery', afterMs: SECOND_MS } as const;
const DELIVERED: readonly SimulatedStep[] = [delivered];

/**
 * The feedback by the word in the address before `@` or `+`. Opens and clicks come late enough to count as made by a
 * human (`isTooEarly`).
 */
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

/** Tells whether an address is at the simulator. Email to such an address is not sent to any server. */
export function isSimulatorAddress(email: string): boolean {
  return normalizeEmail(email).endsWith(`@${SIMULATOR_DOMAIN}`);
}

/**
 * Tells whether an email is for the simulator. False for an email whose contact was erased, because it has no address.
 */
export function isSimulated({ to }: { to: { email: string } | null }): boolean {
  return to !== null && isSimulatorAddress(to.email);
}

/** Returns the simulated outcome of attempt number `attempts`. If the address has an unknown word, it is a delivery. */
export function chooseSimulation(email: string, attempts: number): Simulation {
  const word = /^[^+@]*/.exec(normalizeEmail(email))?.[0] ?? '';
  if (word === 'reject') return { answer: 'refused', steps: [] };
  if (word === 'defer' && attempts <= 1) return { answer: 'put_off', steps: [] };
  return { answer: 'accepted', steps: (Object.hasOwn(CHAINS, word) ? CHAINS[word] : undefined) ?? DELIVERED };
}

/** The simulator's replies, in the form of replies from a server. */
export const SIMULATED_REPLIES = {
  refused: simulateReply(554, '5.6.0', 'message', 'The simulator refuses this message'),
  put_off: simulateReply(451, '4.7.1', 'rcpt', 'The simulator asks to try again: greylisted'),
  bounce: simulateReply(550, '5.1.1', 'dsn', 'The simulator returns this mail: user unknown'),
  softbounce: simulateReply(452, '4.2.2', 'dsn', 'The simulator returns this mail: mailbox full'),
} as const;

/** Classifies a simulated bounce in the same way as a real bounce. */
export function createSimulatedBounce(what: 'bounce' | 'softbounce'): { refusal: Refusal; words: string } {
  const { code, text } = SIMULATED_REPLIES[what];
  return { refusal: classifyRefusal(SIMULATED_REPLIES[what]), words: `${code} ${text}` };
}

function simulateReply<S extends Reply['stage']>(code: number, enhanced: string, stage: S, words: string) {
  return { code, enhanced, stage, text: `${enhanced} ${words}` };
}
