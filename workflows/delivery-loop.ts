import { CancellationScope, setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';
import { describeAttempt, type WaitingMessage } from '../rules/emails/last-attempt.ts';
import { DELIVERY_EXPIRES_MS } from '../rules/emails/retry-schedule.ts';
import { withCode } from './ends.ts';

/** Messages due within this of the first are sent with it: one activity for what was put off together. */
const TOGETHER_MS = 5_000;

/** Of the messages that wait the UI shows this many. */
const SHOWN_MESSAGES = 20;
/** Temporal takes summaries of 400 bytes. */
const SUMMARY_CHARS = 200;

/** Where a delivery stands; what it carries on with when it continues as new. */
export interface DeliveryState {
  waiting: WaitingMessage[];
  /** ISO 8601: what is refused for now after this is given up. */
  expiresAt: string;
  sent: number;
  other: number;
}

export interface AttemptResult {
  sent: number;
  other: number;
  waiting: WaitingMessage[];
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
  attempt: (due: WaitingMessage[], expiresAt: string) => Promise<AttemptResult>;
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
  p: { noun: string; attempt: (due: WaitingMessage[], expiresAt: string) => Promise<AttemptResult> },
): Promise<DeliveryState> {
  const due = await nextDue(state.waiting, p.noun);
  setCurrentDetails(`Sending ${due.length} of ${state.waiting.length} ${p.noun}`);
  const result = await p.attempt(due, state.expiresAt);
  const left = state.waiting.filter((message) => !due.includes(message));
  const waiting = [...left, ...result.waiting];
  return { ...state, waiting, sent: state.sent + result.sent, other: state.other + result.other };
}

/** Waits for the first message that is due, and returns it with those that are due about then. */
async function nextDue(waiting: WaitingMessage[], noun: string): Promise<WaitingMessage[]> {
  const first = Math.min(...waiting.map((message) => Date.parse(message.dueAt)));
  const waitMs = first - Date.now();
  if (waitMs > 0) {
    setCurrentDetails(describeWait(waiting, noun));
    await sleep(waitMs, { summary: summarizeWait(waiting, first) });
  }
  const until = Math.max(first, Date.now()) + (waitMs > 0 ? TOGETHER_MS : 0);
  return waiting.filter((message) => Date.parse(message.dueAt) <= until);
}

/** The messages that wait, the next one first: an operator sees which provider said what, and when it is asked again. */
function describeWait(waiting: WaitingMessage[], noun: string): string {
  const soonest = [...waiting].sort((a, b) => a.dueAt.localeCompare(b.dueAt));
  const lines = soonest.slice(0, SHOWN_MESSAGES).map(({ id, dueAt, last }) => {
    const how = last === undefined ? '' : `, ${describeAttempt(last)}`;
    return `- ${id}${how}, next attempt at ${dueAt}`;
  });
  const more = waiting.length - lines.length;
  if (more > 0) lines.push(`- ${more} more`);
  return `${waiting.length} ${noun} wait for their next attempt\n\n${lines.join('\n')}`;
}

function summarizeWait(waiting: WaitingMessage[], firstMs: number): string {
  const next = waiting.find(({ dueAt }) => Date.parse(dueAt) === firstMs);
  const how = next?.last === undefined ? '' : `, ${describeAttempt(next.last).slice(0, SUMMARY_CHARS)}`;
  return `${waiting.length} wait until ${new Date(firstMs).toISOString()}${how}`;
}
