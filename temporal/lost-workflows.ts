import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  type WorkflowExecutionStatusName,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { readRunInput } from './deliveries.ts';
import type { Target } from './names.ts';
import { buildInstallationCondition, withInstallation } from './search-attributes.ts';

/**
 * The types of workflows that deliver accepted messages. Restarting such a workflow is safe. An email or SMS delivery
 * claims its messages under its workflow id, which stays the same, and messages with a result are not sent again.
 * `releaseHeld` continues with the emails that are still HELD, and `backInStock` with the contacts that still wait.
 * A workflow that an operator has terminated is restarted too: operators terminate a workflow only to clear a failure.
 * To stop email, they put the project on hold.
 */
const DELIVERING = ['emailDelivery', 'smsDelivery', 'releaseHeld', 'backInStock'];

/**
 * Restarts deliveries that were terminated or timed out since an instant, with the same workflow id and input. Without
 * a restart, their remaining messages would not be sent. Skips deliveries that were already restarted.
 * @returns the ids of the restarted workflows
 */
export async function restartUnfinishedDeliveries({ client, names }: Target, since: Date): Promise<string[]> {
  const types = DELIVERING.map((type) => `'${type}'`).join(', ');
  const query = `${buildInstallationCondition(names)} AND WorkflowType IN (${types})
    AND ExecutionStatus IN ('Terminated', 'TimedOut') AND CloseTime > '${since.toISOString()}'`;
  const restarted: string[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    if (await restartWorkflow({ client, names }, workflowId, runId)) restarted.push(workflowId);
  }
  return restarted;
}

/** Finds the status of a workflow's last run; null if Temporal has no such workflow. */
export async function findStatus(client: Client, workflowId: string): Promise<WorkflowExecutionStatusName | null> {
  return (await describeWorkflow(client, workflowId))?.status.name ?? null;
}

async function restartWorkflow({ client, names }: Target, workflowId: string, runId: string): Promise<boolean> {
  const last = await describeWorkflow(client, workflowId);
  if (last?.runId !== runId) return false;
  const args = await readRunInput(client, workflowId, runId);
  const summary = await last.staticSummary();
  try {
    await client.workflow.start(last.type, {
      workflowId,
      // Uses the current task queue, because workers may no longer serve the queue of an earlier release.
      taskQueue: names.taskQueue('workflows'),
      args,
      typedSearchAttributes: withInstallation(names, last.typedSearchAttributes),
      ...(summary !== undefined && { staticSummary: summary }),
      ...(last.priority && { priority: last.priority }),
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

async function describeWorkflow(client: Client, workflowId: string): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await client.workflow.getHandle(workflowId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
