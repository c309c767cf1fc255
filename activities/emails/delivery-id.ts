import { createHash } from 'node:crypto';
import type { Info } from '@temporalio/activity';

/**
 * Returns the id with which a workflow claims the messages that it delivers. The id is the same in all activities and
 * attempts of the workflow.
 */
export function toDeliveryId(info: Info): string {
  const hex = createHash('sha256')
    .update(info.workflowExecution?.workflowId ?? info.activityId)
    .digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
