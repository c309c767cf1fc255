import {
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  setCurrentDetails,
  setHandler,
  Trigger,
} from '@temporalio/workflow';
import type { TurnResult, WebhookDeliveryActivities } from '../activities/webhooks/deliveries.ts';
import { PRIORITY } from '../rules/queues.ts';
import { activitiesOn } from './activities-on.ts';
import { endingWithCode } from './ends.ts';
import { RunLength } from './run-length.ts';

export interface WebhookDeliveryInput {
  projectId: string;
  endpointId: string;
}

const { deliverWebhooks } = activitiesOn<WebhookDeliveryActivities>('webhooks', {
  allowEagerDispatch: false,
  // A turn ends by itself after 10 s and the requests under way; the rest is for a slow machine.
  startToCloseTimeout: '1 minute',
  // A turn tells every 5 s that it lives: what a killed worker had under way is soon tried again by another.
  heartbeatTimeout: '15 seconds',
  // Each delivery's tries are counted in the database; what is retried here is our own trouble with it.
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/** Deliveries are due. */
export const wake = defineSignal('wake');

/**
 * Delivers to one endpoint: turns of some seconds, each for all that is due, then a timer until the next delivery is
 * due or a signal comes, until none is left. There is one for an endpoint, so that its events share Temporal's cost, a
 * slow or dead endpoint never has more than one turn under way, and turns go round among endpoints and projects.
 */
export async function webhookDelivery(input: WebhookDeliveryInput): Promise<void> {
  return endingWithCode(() => deliverTurns(input));
}

async function deliverTurns(input: WebhookDeliveryInput): Promise<void> {
  const length = new RunLength();
  const full = new Trigger<undefined>();
  let woken = false;
  let turn: CancellationScope | undefined;
  setHandler(wake, () => {
    woken = true;
    // A turn that is cancelled makes no further request. One whose requests take too long is left behind, and records
    // nothing once the turn of the next run has begun.
    length.countSignal(turn);
    if (length.isFull()) full.resolve(undefined);
  });
  while (true) {
    woken = false;
    turn = new CancellationScope();
    const result = await Promise.race([takeTurn(turn, input, length), full]);
    if (result) {
      const { nextDueAt, waitMs } = result;
      if (nextDueAt === null && !woken) return;
      // A turn under an earlier version did not say for how long.
      if (nextDueAt !== null && !woken)
        await pause(nextDueAt, waitMs ?? Date.parse(nextDueAt) - Date.now(), () => woken);
    }
    if (!result || length.shouldContinue()) await continueAsNew<typeof webhookDelivery>(input);
  }
}

/** Runs a turn; undefined when it was cut short before it began. */
async function takeTurn(
  turn: CancellationScope,
  input: WebhookDeliveryInput,
  length: RunLength,
): Promise<TurnResult | undefined> {
  const priority = { priorityKey: PRIORITY.automation, fairnessKey: input.projectId };
  try {
    return await turn.run(() => deliverWebhooks.executeWithOptions({ priority }, [input]));
  } catch (error) {
    if (!length.hasCutShort(error)) throw error;
    return undefined;
  }
}

async function pause(until: string, ms: number, isWoken: () => boolean): Promise<void> {
  if (ms <= 0) return;
  setCurrentDetails(`Next delivery at ${until}`);
  await condition(isWoken, ms, { summary: 'until the next delivery is due' });
}
