import { CancellationScope, setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';
import type { WaitingMail } from '../activities/emails/deliveries.ts';
import { DELIVERY_EXPIRES_MS } from '../rules/emails/retry-schedule.ts';
import { withCode } from './ends.ts';

/** Messages due within this of the first are sent with it: one activity for what was put off together. */
const TOGETHER_MS = 5_000;

/** Where a delivery stands; what it carries on with when it continues as new. */
export interface DeliveryState {
  waiting: WaitingMail[];
  /** ISO 8601: what is refused for now after this is given up. */
  expiresAt: string;
  sent: number;
  other: number;
}

export interface AttemptResult {
  sent: number;
  other: number;
  waiting: WaitingMail[];
}

/** A new delivery of these messages, due now. */
export function newDelivery(ids: string[]): DeliveryState {
  const now = Date.now();
  const dueAt = new Date(now).toISOString();
  return {
    waiting: ids.map((id) => ({ id, dueAt })),
    expiresAt: new Date(now + DELIVERY_EXPIRES_MS).toISOString(),
    sent: 0,
    other: 0,
  };
}

/**
 * Sends what is due, waits by a timer for what was put off, and so on until nothing waits; tells how it stands in the
 * current details. `continueWith` is called when the history has become long, and does not return.
 */
export async function deliver(p: {
  state: DeliveryState;
  /** What is delivered, such as `mails`. */
  noun: string;
  attempt: (due: WaitingMail[], expiresAt: string) => Promise<AttemptResult>;
  continueWith: (state: DeliveryState) => Promise<never>;
  /** Ends what is not delivered, of these ids, when the workflow is cancelled. */
  giveUp: (ids: string[]) => Promise<unknown>;
}): Promise<string> {
  let state = p.state;
  try {
    while (state.waiting.length > 0) {
      state = await round(state, p);
      if (state.waiting.length > 0 && workflowInfo().continueAsNewSuggested) await p.continueWith(state);
    }
  } catch (error) {
    // What was on the wire is recorded by now: a cancelled attempt is waited for.
    if (CancellationScope.current().consideredCancelled) {
      const ids = state.waiting.map(({ id }) => id);
      await CancellationScope.nonCancellable(() => p.giveUp(ids));
    }
    throw withCode(error);
  }
  const story = `${state.sent} sent${state.other > 0 ? `, ${state.other} not sent (their records say why)` : ''}`;
  setCurrentDetails(story);
  return story;
}

/** Sends what is due once; returns where the delivery stands then. */
async function round(
  state: DeliveryState,
  p: { noun: string; attempt: (due: WaitingMail[], expiresAt: string) => Promise<AttemptResult> },
): Promise<DeliveryState> {
  const due = await nextDue(state.waiting, p.noun);
  setCurrentDetails(`Sending ${due.length} of ${state.waiting.length} ${p.noun}`);
  const result = await p.attempt(due, state.expiresAt);
  const left = state.waiting.filter((message) => !due.includes(message));
  const waiting = [...left, ...result.waiting];
  return { ...state, waiting, sent: state.sent + result.sent, other: state.other + result.other };
}

/** Waits for the first message that is due, and returns it with those that are due about then. */
async function nextDue(waiting: WaitingMail[], noun: string): Promise<WaitingMail[]> {
  const first = Math.min(...waiting.map((message) => Date.parse(message.dueAt)));
  const waitMs = first - Date.now();
  if (waitMs > 0) {
    setCurrentDetails(`${waiting.length} ${noun} wait, the first until ${new Date(first).toISOString()}`);
    await sleep(waitMs, { summary: `${waiting.length} ${noun} wait for their next try` });
  }
  const until = Math.max(first, Date.now()) + (waitMs > 0 ? TOGETHER_MS : 0);
  return waiting.filter((message) => Date.parse(message.dueAt) <= until);
}
