import type { TaskQueue } from '../rules/queues.ts';
import { campaignChunkActivities, campaignControlActivities } from './campaigns/campaigns.ts';
import type { ActivityDeps } from './deps.ts';
import { deliveryActivities } from './emails/deliveries.ts';
import { endActivities } from './ends.ts';
import { executionStepActivities, webhookStepActivities } from './executions/steps.ts';
import { jobActivities } from './jobs.ts';
import { maintenanceActivities } from './maintenance.ts';
import { periodicActivities } from './periodic/rounds.ts';
import { failingWithoutRow } from './row-missing.ts';
import { smsActivities } from './sms/deliveries.ts';
import { storefrontActivities } from './storefront.ts';
import { webhookDeliveryActivities } from './webhooks/deliveries.ts';

type Activities = Record<string, (...args: never[]) => Promise<unknown>>;

/** Every activity, by the task queue that its workflows name for it. */
export function activitiesByQueue(deps: ActivityDeps): Record<Exclude<TaskQueue, 'workflows'>, Activities> {
  const queues = allByQueue(deps);
  const entries = Object.entries(queues).map(([queue, activities]) => [queue, failingWithoutRow(deps.log, activities)]);
  return Object.fromEntries(entries) as ReturnType<typeof allByQueue>;
}

function allByQueue(deps: ActivityDeps): Record<Exclude<TaskQueue, 'workflows'>, Activities> {
  const chunks = campaignChunkActivities(deps);
  const steps = executionStepActivities(deps);
  return {
    transactional: { ...deliveryActivities(deps), ...smsActivities(deps) },
    steps,
    automation: { ...steps, ...campaignControlActivities(deps), ...endActivities(deps) },
    webhooks: { ...webhookStepActivities(deps), ...webhookDeliveryActivities(deps) },
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
