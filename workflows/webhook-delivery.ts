import { CancellationScope, condition, continueAsNew, defineSignal, setHandler, Trigger } from '@temporalio/workflow';
import type { TurnResult, WebhookDeliveryActivities } from '../activities/webhooks/deliveries.ts';
import { PRIORITY } from '../rules/queues.ts';
import { activitiesOn } from './activities-on.ts';
import { showDetails } from './current-details.ts';
import { failWithActivityCode } from './ends.ts';
import { RunLength } from './run-length.ts';

export interface WebhookDeliveryInput {
  projectId: string;
  endpointId: string;
}

const { deliverWebhooks } = activitiesOn<WebhookDeliveryActivities>('webhooks', {
  allowEagerDispatch: false,
  // A turn starts no request after 10 s, and waits for running requests. The remaining time is a margin for a slow
  // machine.
  startToCloseTimeout: '1 minute',
  // A turn sends a heartbeat every 5 s. If its worker is killed, Temporal notices it after this time, and another
  // worker repeats the turn.
  heartbeatTimeout: '15 seconds',
  // Retries of this activity are for failures of the service itself. The database counts the attempts of each delivery.
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/** Signals that deliveries to the endpoint may be due. */
export const wake = defineSignal('wake');

/**
 * Delivers webhooks to one endpoint, a turn of about ten seconds at a time. After a turn, waits until the next delivery
 * is due or a signal arrives. Ends when no delivery is left. Each endpoint has one workflow, for three reasons. The
 * events of the endpoint share the cost of the workflow. A slow or dead endpoint occupies at most one slot of a worker.
 * Temporal serves the turns of several projects alternately.
 */
export async function webhookDelivery(input: WebhookDeliveryInput): Promise<void> {
  return failWithActivityCode(() => deliverTurns(input));
}

async function deliverTurns(input: WebhookDeliveryInput): Promise<void> {
  const length = new RunLength();
  const runMustEnd = new Trigger<undefined>();
  let woken = false;
  let turn: CancellationScope | undefined;
  let lastOutcome: TurnResult['outcome'];
  setHandler(wake, () => {
    woken = true;
    // After too many signals, `countSignal` cancels the turn. A cancelled turn starts no further request. If the turn's
    // running requests take too long, the workflow continues as new without waiting for the turn. As soon as the next
    // run has started its own turn, the abandoned turn records nothing more.
    length.countSignal(turn);
    if (length.mustEnd()) runMustEnd.resolve(undefined);
  });
  while (true) {
    woken = false;
    turn = new CancellationScope();
    const result = await Promise.race([runTurn(turn, input, length), runMustEnd]);
    if (result) {
      const { nextDueAt, waitMs, outcome } = result;
      lastOutcome = outcome ?? lastOutcome;
      showDetails(describeTurn(nextDueAt, lastOutcome));
      if (nextDueAt === null && !woken) return;
      // Turns of earlier releases did not report `waitMs`.
      if (nextDueAt !== null && !woken)
        await waitUntilDue(nextDueAt, waitMs ?? Date.parse(nextDueAt) - Date.now(), () => woken);
    }
    if (!result || length.shouldStartNewRun()) await continueAsNew<typeof webhookDelivery>(input);
  }
}

/** Runs a turn. Returns undefined if the signal limit cancelled the turn before the turn started. */
async function runTurn(
  turn: CancellationScope,
  input: WebhookDeliveryInput,
  length: RunLength,
): Promise<TurnResult | undefined> {
  const priority = { priorityKey: PRIORITY.automation, fairnessKey: input.projectId };
  try {
    return await turn.run(() =>
      deliverWebhooks.executeWithOptions({ priority, summary: 'deliver due events' }, [input]),
    );
  } catch (error) {
    if (!length.isFromSignalLimit(error)) throw error;
    return undefined;
  }
}

async function waitUntilDue(until: string, ms: number, isWoken: () => boolean): Promise<void> {
  if (ms <= 0) return;
  await condition(isWoken, ms, { summary: `until ${until}, when the next delivery is due` });
}

/** Describes the result of the last turn, so that an operator sees why deliveries wait. */
function describeTurn(nextDueAt: string | null, outcome: TurnResult['outcome']): string {
  const lines = [nextDueAt === null ? 'No delivery waits.' : `Next delivery at ${nextDueAt}.`];
  if (outcome) {
    const { status, delivered, failed, lastFailure } = outcome;
    const why = lastFailure === null ? '' : ` (${lastFailure})`;
    lines.push(`The endpoint is ${status}. Last turn: ${delivered} delivered, ${failed} failed${why}.`);
  }
  return lines.join('\n\n');
}
