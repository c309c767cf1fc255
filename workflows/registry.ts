// Every Temporal workflow of the service, by its type name. The worker's bundle is made from this file alone.

export { backInStock } from './back-in-stock.ts';
export { bulkJob } from './bulk-job.ts';
export { campaignSend } from './campaign.ts';
export { contactExecution } from './contact-execution.ts';
export { domainChecks } from './domain-checks.ts';
export { emailDelivery } from './email-delivery.ts';
export { housekeeping } from './housekeeping.ts';
export { contactImport } from './import.ts';
export { releaseHeld } from './release-held.ts';
export { segmentRecompute } from './segment-recompute.ts';
export { smsDelivery } from './sms-delivery.ts';
export { wakeWindowWaits } from './wake-window-waits.ts';
export { webhookDelivery } from './webhook-delivery.ts';
