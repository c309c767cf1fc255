import { createHash } from 'node:crypto';

export const campaignWorkflowId = (campaignId: string, sendNo: number): string => `campaign-${campaignId}-${sendNo}`;
export const jobWorkflowId = (jobId: string): string => `job-${jobId}`;
export const webhookWorkflowId = (endpointId: string): string => `webhooks-${endpointId}`;
export const windowWorkflowId = (outboxId: string): string => `sending-window-${outboxId}`;
export const releaseWorkflowId = (outboxId: string): string => `hold-release-${outboxId}`;
export const restockWorkflowId = (projectId: string, variantId: string, restockNo: number): string =>
  `restock-${projectId}-${variantId}-${restockNo}`;

/**
 * The id of a group, made from the ids of its outbox rows: dispatching the same rows again is "already started", while
 * sending the same thing once more on purpose (a replay) is a row of its own.
 */
export function groupWorkflowId(kind: 'delivery' | 'sms', outboxIds: string[]): string {
  return `${kind}-${createHash('sha256').update(outboxIds.join()).digest('hex').slice(0, 32)}`;
}
