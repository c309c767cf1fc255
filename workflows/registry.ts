// Every Temporal workflow of the service, by its type name. The worker's bundle contains this file, `interceptors.ts`,
// and everything that they import.

import { setWorkflowOptions, workflowInfo } from '@temporalio/workflow';
import { bulkJob } from './bulk-job.ts';
import { campaignSend } from './campaign.ts';
import { contactImport } from './import.ts';

/**
 * With versioned workers, a campaign and a job stay with the build that started them. Most of them end within hours,
 * and then the earlier build can stop. A worker without a deployment must not set a versioning behavior, because
 * Temporal would reject it.
 */
const pinned = () => (workflowInfo().currentDeploymentVersion?.deploymentName ? PINNED : {});
const PINNED = { versioningBehavior: 'PINNED' } as const;
setWorkflowOptions(pinned, bulkJob);
setWorkflowOptions(pinned, campaignSend);
setWorkflowOptions(pinned, contactImport);

export { backInStock } from './back-in-stock.ts';
export { contactExecution } from './contact-execution.ts';
export { domainChecks, housekeeping, segmentRecompute } from './earlier-rounds.ts';
export { emailDelivery } from './email-delivery.ts';
export { installation } from './installation.ts';
export { domainsRound, pruningRound, recoveryRound, segmentsRound, statisticsRound } from './periodic-work.ts';
export { releaseHeld } from './release-held.ts';
export { smsDelivery } from './sms-delivery.ts';
export { wakeWindowWaits } from './wake-window-waits.ts';
export { webhookDelivery } from './webhook-delivery.ts';
export { bulkJob, campaignSend, contactImport };
