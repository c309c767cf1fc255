import { continueAsNew, proxyActivities, setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';
import type { WebhookDeliveryActivities } from '../activities/webhook-deliveries.ts';

export interface WebhookDeliveryInput {
  projectId: string;
  endpointId: string;
  deliveryIds: string[];
}

const { deliverWebhooks } = proxyActivities<WebhookDeliveryActivities>({
  taskQueue: 'webhooks',
  allowEagerDispatch: false,
  // A turn ends by itself after 10 s and the request under way; the rest is for a slow machine.
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '30 seconds',
  // Each delivery's tries are counted in the database; what is retried here is our own trouble with it.
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/**
 * Delivers a group of events to one endpoint: turns of some seconds, then a timer until the next delivery is due, until none is left.
 * The group shares Temporal's cost, and turns are fair by endpoint, so that nobody waits for a slow or dead one.
 */
export async function webhookDelivery(input: WebhookDeliveryInput): Promise<void> {
  const priority = { priorityKey: 3, fairnessKey: input.endpointId };
  while (true) {
    const { nextDueAt } = await deliverWebhooks.executeWithOptions({ priority }, [input]);
    if (nextDueAt === null) return;
    setCurrentDetails(`Next delivery to endpoint ${input.endpointId} at ${nextDueAt}`);
    await sleep(Math.max(0, Date.parse(nextDueAt) - Date.now()), { summary: 'until the next delivery is due' });
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof webhookDelivery>(input);
  }
}
