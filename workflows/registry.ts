// Every Temporal workflow of the service, by its type name. The worker's bundle is made from this file alone.
export { contactExecution } from './contact-execution.ts';
export { bulkJob } from './bulk-job.ts';
export { contactImport } from './import.ts';
export { emailDelivery } from './email-delivery.ts';
export { campaignSend } from './campaign.ts';
export { domainChecks } from './domain-checks.ts';
