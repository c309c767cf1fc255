import {
  condition,
  continueAsNew,
  defineSignal,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { WebhookDeliveryActivities } from '../activities/webhooks/deliveries.ts';
import { PRIORITY } from '../rules/queues.ts';
import { activitiesOn } from './activities-on.ts';
import { endingWithCode } from './ends.ts';

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
  let woken = false;
  setHandler(wake, () => {
    woken = true;
  });
  const priority = { priorityKey: PRIORITY.automation, fairnessKey: input.projectId };
  while (true) {
    woken = false;
    const { nextDueAt, waitMs } = await deliverWebhooks.executeWithOptions({ priority }, [input]);
    if (nextDueAt === null && !woken) return;
    if (nextDueAt !== null && !woken) {
      // A turn under an earlier version did not say for how long.
      await pause(nextDueAt, waitMs ?? Date.parse(nextDueAt) - Date.now(), () => woken);
    }
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof webhookDelivery>(input);
  }
}

async function pause(until: string, ms: number, isWoken: () => boolean): Promise<void> {
  if (ms <= 0) return;
  setCurrentDetails(`Next delivery at ${until}`);
  await condition(isWoken, ms, { summary: 'until the next delivery is due' });
}
