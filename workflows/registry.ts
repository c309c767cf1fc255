// Every Temporal workflow of the service, by its type name. The worker's bundle is made from this file alone.

export { backInStock } from './back-in-stock.ts';
export { bulkJob } from './bulk-job.ts';
export { campaignSend } from './campaign.ts';
export { contactExecution } from './contact-execution.ts';
export { domainChecks, housekeeping, segmentRecompute } from './earlier-rounds.ts';
export { emailDelivery } from './email-delivery.ts';
export { contactImport } from './import.ts';
export { installation } from './installation.ts';
export { domainsRound, pruningRound, recoveryRound, segmentsRound, statisticsRound } from './periodic-work.ts';
export { releaseHeld } from './release-held.ts';
export { smsDelivery } from './sms-delivery.ts';
export { wakeWindowWaits } from './wake-window-waits.ts';
export { webhookDelivery } from './webhook-delivery.ts';
