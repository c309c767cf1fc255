import { CancellationScope, sleep, workflowInfo } from '@temporalio/workflow';
import { type DeferredMessage, describeAttempt } from '../rules/emails/last-attempt.ts';
import { DELIVERY_EXPIRES_MS } from '../rules/emails/retry-schedule.ts';
import { showDetails } from './current-details.ts';
import { toWorkflowFailure } from './ends.ts';

/**
 * When the timer for the next message fires, the activity also sends the messages that are due at most this much later.
 * Messages that were deferred at about the same time then share one activity.
 */
const GROUPING_MS = 5_000;

/** The maximum number of waiting messages that the Temporal UI shows. */
const SHOWN_MESSAGES = 20;
/**
 * The maximum length of the text about the last attempt in a timer's summary. Temporal accepts summaries of 400 bytes.
 */
const SUMMARY_CHARS = 200;

/**
 * The messages that a delivery still has to send, and its counts so far. When the workflow continues as new, the next
 * run gets this state.
 */
export interface DeliveryState {
  waiting: DeferredMessage[];
  /**
   * The expiry in ISO 8601. Messages that are still deferred at this instant are marked as failed. The activities
   * postpone it by the time during which a message's sending window was closed.
   */
  expiresAt: string;
  sent: number;
  /**
   * The number of messages that were not sent and for which this workflow makes no further attempt, such as failed and
   * held messages.
   */
  other: number;
}

/** The counts of one attempt, and the messages that have to wait for another attempt. */
export interface AttemptResult {
  sent: number;
  other: number;
  waiting: DeferredMessage[];
}

/** Creates the state of a delivery whose messages are all due now. */
export function createDelivery(ids: string[]): DeliveryState {
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
 * Sends the due messages, and waits with a timer until deferred messages are due. Repeats this until no message waits
 * any more. Shows its state in the workflow's current details. When Temporal suggests a new run, calls `continueWith`,
 * which continues the workflow as new and does not return.
 */
export async function runDelivery(p: {
  state: DeliveryState;
  /** Returns a number of messages with their noun, such as `2 emails`. */
  formatCount: (messages: number) => string;
  attempt: (due: DeferredMessage[], expiresAt: string) => Promise<AttemptResult>;
  continueWith: (state: DeliveryState) => Promise<never>;
  /** Marks the undelivered messages with these ids as failed when the workflow is cancelled. */
  giveUp: (ids: string[]) => Promise<unknown>;
}): Promise<string> {
  let state = p.state;
  try {
    while (state.waiting.length > 0) {
      state = await sendDue(state, p);
      if (state.waiting.length > 0 && workflowInfo().continueAsNewSuggested) await p.continueWith(state);
    }
  } catch (error) {
    // The workflow has waited for the end of the cancelled activity. The activity has already recorded the results of
    // messages that were on the wire, so `giveUp` does not mark these messages as failed.
    if (CancellationScope.current().consideredCancelled) {
      const ids = state.waiting.map(({ id }) => id);
      await CancellationScope.nonCancellable(() => p.giveUp(ids));
    }
    throw toWorkflowFailure(error);
  }
  const summary = `${state.sent} sent${state.other > 0 ? `, ${state.other} not sent (their records say why)` : ''}`;
  showDetails(summary);
  return summary;
}

/** Sends the due messages once. Returns the state of the delivery afterwards. */
async function sendDue(
  state: DeliveryState,
  p: {
    formatCount: (messages: number) => string;
    attempt: (due: DeferredMessage[], expiresAt: string) => Promise<AttemptResult>;
  },
): Promise<DeliveryState> {
  const due = await waitForDue(state.waiting, p.formatCount);
  showDetails(`Sending ${due.length} of ${p.formatCount(state.waiting.length)}`);
  const result = await p.attempt(due, state.expiresAt);
  const notDue = state.waiting.filter((message) => !due.includes(message));
  const waiting = [...notDue, ...result.waiting];
  return { ...state, waiting, sent: state.sent + result.sent, other: state.other + result.other };
}

/** Waits for the first due message, and returns it with the messages that are due at about the same time. */
async function waitForDue(
  waiting: DeferredMessage[],
  formatCount: (messages: number) => string,
): Promise<DeferredMessage[]> {
  const first = Math.min(...waiting.map((message) => Date.parse(message.dueAt)));
  const waitMs = first - Date.now();
  if (waitMs > 0) {
    showDetails(describeWait(waiting, formatCount));
    await sleep(waitMs, { summary: summarizeWait(waiting, first) });
  }
  const until = Math.max(first, Date.now()) + (waitMs > 0 ? GROUPING_MS : 0);
  return waiting.filter((message) => Date.parse(message.dueAt) <= until);
}

/**
 * Lists the waiting messages in the order of their next attempts, so that an operator sees the provider's last reply
 * and the time of the next attempt.
 */
function describeWait(waiting: DeferredMessage[], formatCount: (messages: number) => string): string {
  const soonest = [...waiting].sort((a, b) => a.dueAt.localeCompare(b.dueAt));
  const lines = soonest.slice(0, SHOWN_MESSAGES).map(({ id, dueAt, last }) => {
    const reply = last === undefined ? '' : `, ${describeAttempt(last)}`;
    return `- ${id}${reply}, next attempt at ${dueAt}`;
  });
  const notShown = waiting.length - lines.length;
  if (notShown > 0) lines.push(`- ${notShown} more`);
  return `Waiting for the next attempt: ${formatCount(waiting.length)}\n\n${lines.join('\n')}`;
}

function summarizeWait(waiting: DeferredMessage[], firstMs: number): string {
  const next = waiting.find(({ dueAt }) => Date.parse(dueAt) === firstMs);
  const reply = next?.last === undefined ? '' : `, ${describeAttempt(next.last).slice(0, SUMMARY_CHARS)}`;
  return `${waiting.length} wait until ${new Date(firstMs).toISOString()}${reply}`;
}
