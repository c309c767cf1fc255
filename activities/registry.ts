import type { TaskQueue } from '../rules/queues.ts';
import { campaignChunkActivities, campaignControlActivities } from './campaigns/campaigns.ts';
import type { ActivityDeps } from './deps.ts';
import { deliveryActivities } from './emails/deliveries.ts';
import { workflowEndActivities } from './ends.ts';
import { executionStepActivities, webhookStepActivities } from './executions/steps.ts';
import { jobActivities } from './jobs.ts';
import { maintenanceActivities } from './maintenance.ts';
import { periodicActivities } from './periodic/rounds.ts';
import { failOnMissingRows } from './row-missing.ts';
import { holdWhileClosed, type SendingGate } from './sending-hold.ts';
import { smsActivities } from './sms/deliveries.ts';
import { storefrontActivities } from './storefront.ts';
import { webhookDeliveryActivities } from './webhooks/deliveries.ts';

type Activities = Record<string, (...args: never[]) => Promise<unknown>>;

/**
 * Returns all activities, grouped by the task queue on which workflows schedule them. While the installation may not
 * send (`gate`), activities that send email, SMS, campaigns or requests to tenants' servers wait. All other activities
 * run.
 */
export function activitiesByQueue(
  deps: ActivityDeps,
  gate: SendingGate,
): Record<Exclude<TaskQueue, 'workflows'>, Activities> {
  const queues = groupByQueue(deps, gate);
  const entries = Object.entries(queues).map(([queue, activities]) => [queue, failOnMissingRows(deps.log, activities)]);
  return Object.fromEntries(entries) as ReturnType<typeof groupByQueue>;
}

function groupByQueue(deps: ActivityDeps, gate: SendingGate): Record<Exclude<TaskQueue, 'workflows'>, Activities> {
  const { sendMails, sendSms, ...deliveries } = { ...deliveryActivities(deps), ...smsActivities(deps) };
  const { sendCampaignChunk, ...campaigns } = campaignChunkActivities(deps);
  const { SEND_EMAIL, SEND_SMS, ...effects } = executionStepActivities(deps);
  const chunks = { ...campaigns, ...holdWhileClosed(gate, { sendCampaignChunk }) };
  const steps = { ...effects, ...holdWhileClosed(gate, { SEND_EMAIL, SEND_SMS }) };
  return {
    transactional: { ...deliveries, ...holdWhileClosed(gate, { sendMails, sendSms }) },
    steps,
    automation: { ...steps, ...campaignControlActivities(deps), ...workflowEndActivities(deps) },
    webhooks: holdWhileClosed(gate, { ...webhookStepActivities(deps), ...webhookDeliveryActivities(deps) }),
    bulk: {
      ...jobActivities(deps),
      ...chunks,
      ...maintenanceActivities(deps),
      ...storefrontActivities(deps),
    },
    periodic: periodicActivities(deps),
    paced: { ...chunks },
  };
}
