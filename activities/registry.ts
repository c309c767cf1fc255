import type { TaskQueue } from '../rules/queues.ts';
import { createCampaignChunkActivities, createCampaignControlActivities } from './campaigns/campaigns.ts';
import type { ActivityDeps } from './deps.ts';
import { createEmailDeliveryActivities } from './emails/deliveries.ts';
import { createExecutionStepActivities, createWebhookStepActivities } from './executions/steps.ts';
import { createJobActivities } from './jobs.ts';
import { createMaintenanceActivities } from './maintenance.ts';
import { createRoundActivities } from './periodic/rounds.ts';
import { failOnMissingRows } from './row-missing.ts';
import { createCancellationActivities } from './run-cancellation.ts';
import { holdWhileClosed, type SendingGate } from './sending-hold.ts';
import { createSmsDeliveryActivities } from './sms/deliveries.ts';
import { createRestockActivities } from './storefront.ts';
import { createWebhookDeliveryActivities } from './webhooks/deliveries.ts';

type Activities = Record<string, (...args: never[]) => Promise<unknown>>;

/**
 * Returns all activities, grouped by the task queue on which workflows schedule them. While the installation may not
 * send (`gate`), activities that send email, SMS, campaigns or requests to tenants' servers wait. All other activities
 * run.
 */
export function createActivitiesByQueue(
  deps: ActivityDeps,
  gate: SendingGate,
): Record<Exclude<TaskQueue, 'workflows'>, Activities> {
  const queues = groupByQueue(deps, gate);
  const entries = Object.entries(queues).map(([queue, activities]) => [queue, failOnMissingRows(deps.log, activities)]);
  return Object.fromEntries(entries) as ReturnType<typeof groupByQueue>;
}

function groupByQueue(deps: ActivityDeps, gate: SendingGate): Record<Exclude<TaskQueue, 'workflows'>, Activities> {
  const { sendMails, sendSms, ...deliveries } = {
    ...createEmailDeliveryActivities(deps),
    ...createSmsDeliveryActivities(deps),
  };
  const { sendCampaignChunk, ...campaigns } = createCampaignChunkActivities(deps);
  const { SEND_EMAIL, SEND_SMS, ...effects } = createExecutionStepActivities(deps);
  const chunks = { ...campaigns, ...holdWhileClosed(gate, { sendCampaignChunk }) };
  const steps = { ...effects, ...holdWhileClosed(gate, { SEND_EMAIL, SEND_SMS }) };
  return {
    transactional: { ...deliveries, ...holdWhileClosed(gate, { sendMails, sendSms }) },
    steps,
    automation: { ...steps, ...createCampaignControlActivities(deps), ...createCancellationActivities(deps) },
    webhooks: holdWhileClosed(gate, { ...createWebhookStepActivities(deps), ...createWebhookDeliveryActivities(deps) }),
    bulk: {
      ...createJobActivities(deps),
      ...chunks,
      ...createMaintenanceActivities(deps),
      ...createRestockActivities(deps),
    },
    periodic: createRoundActivities(deps),
    paced: { ...chunks },
  };
}
