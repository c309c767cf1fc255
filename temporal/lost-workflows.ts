import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  type WorkflowExecutionStatusName,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { inputOf } from './deliveries.ts';
import type { Target } from './names.ts';
import { ofInstallation, withInstallation } from './search-attributes.ts';

/**
 * Those that deliver what was accepted. Running one again is harmless: messages are claimed by their delivery, which
 * has the same id again, and what is settled is not taken twice. Whoever wants mail to stop holds the project; whoever
 * terminates a workflow clears a fault.
 */
const DELIVERING = ['emailDelivery', 'smsDelivery', 'releaseHeld', 'backInStock'];

/**
 * Starts deliveries again that were terminated since an instant, under their id and with their input: nobody else would
 * send what they had not. One that was started again already is left alone.
 * @returns their workflow ids
 */
export async function restartTerminated({ client, names }: Target, since: Date): Promise<string[]> {
  const types = DELIVERING.map((type) => `'${type}'`).join(', ');
  const query = `${ofInstallation(names)} AND WorkflowType IN (${types})
    AND ExecutionStatus IN ('Terminated', 'TimedOut') AND CloseTime > '${since.toISOString()}'`;
  const restarted: string[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    if (await restart({ client, names }, workflowId, runId)) restarted.push(workflowId);
  }
  return restarted;
}

/** How the last run of a workflow stands; null where Temporal knows of none. */
export async function findStatus(client: Client, workflowId: string): Promise<WorkflowExecutionStatusName | null> {
  return (await describe(client, workflowId))?.status.name ?? null;
}

async function restart({ client, names }: Target, workflowId: string, runId: string): Promise<boolean> {
  const last = await describe(client, workflowId);
  if (last?.runId !== runId) return false;
  const args = await inputOf(client, workflowId, runId);
  const summary = await last.staticSummary();
  try {
    await client.workflow.start(last.type, {
      workflowId,
      // The queue of an earlier release may be served no more.
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

async function describe(client: Client, workflowId: string): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await client.workflow.getHandle(workflowId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
