import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { type ExecutionInput, executionWorkflowId } from '../domain/execution.ts';
import type { OutboxRow } from '../domain/outbox.ts';
import {
  campaignWorkflowId,
  groupWorkflowId,
  jobWorkflowId,
  PRIORITY,
  releaseWorkflowId,
  restockWorkflowId,
  TASK_QUEUES,
  webhookWorkflowId,
} from './names.ts';
import { searchAttributes } from './search-attributes.ts';

/** What dispatching rows came to: `taken` rows are done with, `later` rows have to be tried again. */
export interface Dispatched {
  taken: OutboxRow[];
  later: OutboxRow[];
}

/** Starts or signals what a row (or a group of one kind and project) asks for. Running it twice is harmless. */
export async function dispatchGroup(client: Client, rows: OutboxRow[]): Promise<Dispatched> {
  const [first] = rows;
  if (!first) return { taken: [], later: [] };
  switch (first.kind) {
    case 'email.deliver':
      return all(rows, startEmailDelivery(client, rows));
    case 'sms.deliver':
      return all(rows, startSmsDelivery(client, rows));
    case 'webhook.deliver':
      return all(rows, wakeWebhookDelivery(client, rows));
    case 'execution.start':
      return all(rows, startExecution(client, first));
    case 'execution.event':
      return signalled(
        rows,
        client.workflow.getHandle(executionWorkflowId(first.refId)).signal('event', first.payload),
      );
    case 'execution.cancel':
      return signalled(rows, client.workflow.getHandle(executionWorkflowId(first.refId)).cancel());
    case 'campaign.start':
      return all(rows, startCampaign(client, first));
    case 'campaign.changed':
      return signalled(
        rows,
        client.workflow.getHandle(campaignWorkflowId(first.refId, sendNo(first))).signal('changed'),
      );
    case 'job.start':
      return all(rows, startJob(client, first));
    case 'hold.release':
      return all(rows, startRelease(client, first));
    case 'restock.start':
      return all(rows, startRestock(client, first));
    default:
      return unknownKind(first.kind);
  }
}

async function all(rows: OutboxRow[], start: Promise<unknown>): Promise<Dispatched> {
  try {
    await start;
  } catch (error) {
    // Started by an earlier dispatch of the same rows: that is what was asked for.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  return { taken: rows, later: [] };
}

/** A signal to a workflow that is not there: not started yet, or done. The caller asks the database which. */
async function signalled(rows: OutboxRow[], signal: Promise<unknown>): Promise<Dispatched> {
  try {
    await signal;
    return { taken: rows, later: [] };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { taken: [], later: rows };
    throw error;
  }
}

function startEmailDelivery(client: Client, rows: OutboxRow[]): Promise<unknown> {
  const ids = rows.map((row) => row.refId);
  const projectId = projectOf(rows);
  return client.workflow.start('emailDelivery', {
    taskQueue: TASK_QUEUES.workflows,
    workflowId: groupWorkflowId(
      'delivery',
      rows.map((row) => row.id),
    ),
    args: [{ projectId, emailIds: ids }],
    staticSummary: `${ids.length} transactional mail${ids.length === 1 ? '' : 's'}`,
    typedSearchAttributes: searchAttributes({ projectId, jobKind: 'email-delivery' }),
    priority: { priorityKey: PRIORITY.transactional, fairnessKey: projectId },
  });
}

function startSmsDelivery(client: Client, rows: OutboxRow[]): Promise<unknown> {
  const ids = rows.map((row) => row.refId);
  const projectId = projectOf(rows);
  return client.workflow.start('smsDelivery', {
    taskQueue: TASK_QUEUES.workflows,
    workflowId: groupWorkflowId(
      'sms',
      rows.map((row) => row.id),
    ),
    args: [{ projectId, smsIds: ids }],
    staticSummary: `${ids.length} SMS`,
    typedSearchAttributes: searchAttributes({ projectId, jobKind: 'sms-delivery' }),
    priority: { priorityKey: PRIORITY.transactional, fairnessKey: projectId },
  });
}

/** Wakes the one workflow of an endpoint, or starts it. What is due it finds by itself, so that many events cost Temporal one signal. */
function wakeWebhookDelivery(client: Client, rows: OutboxRow[]): Promise<unknown> {
  const projectId = projectOf(rows);
  const endpointId = String(rows[0]?.payload.endpointId);
  return client.workflow.signalWithStart('webhookDelivery', {
    taskQueue: TASK_QUEUES.workflows,
    workflowId: webhookWorkflowId(endpointId),
    args: [{ projectId, endpointId }],
    signal: 'wake',
    staticSummary: `webhook deliveries to endpoint ${endpointId}`,
    typedSearchAttributes: searchAttributes({ projectId, jobKind: 'webhook-delivery' }),
    priority: { priorityKey: PRIORITY.automation, fairnessKey: projectId },
  });
}

function startExecution(client: Client, row: OutboxRow): Promise<unknown> {
  const { workflowId, contactId, ...input } = row.payload as unknown as ExecutionInput & {
    workflowId: string;
    contactId: string;
  };
  return client.workflow.start('contactExecution', {
    taskQueue: TASK_QUEUES.workflows,
    workflowId: executionWorkflowId(row.refId),
    args: [input],
    staticSummary: `workflow ${workflowId}, contact ${contactId}`,
    typedSearchAttributes: searchAttributes({ projectId: row.projectId, contactId, automationId: workflowId }),
    priority: { priorityKey: PRIORITY.automation, fairnessKey: row.projectId },
  });
}

function startCampaign(client: Client, row: OutboxRow): Promise<unknown> {
  return client.workflow.start('campaignSend', {
    taskQueue: TASK_QUEUES.workflows,
    workflowId: campaignWorkflowId(row.refId, sendNo(row)),
    args: [{ projectId: row.projectId, campaignId: row.refId, sendNo: sendNo(row) }],
    staticSummary: `campaign ${row.refId}`,
    typedSearchAttributes: searchAttributes({
      projectId: row.projectId,
      campaignId: row.refId,
      jobKind: 'campaign',
    }),
    priority: { priorityKey: PRIORITY.bulk, fairnessKey: row.projectId },
  });
}

function startJob(client: Client, row: OutboxRow): Promise<unknown> {
  const kind = String(row.payload.kind);
  return client.workflow.start(kind === 'import' ? 'contactImport' : 'bulkJob', {
    taskQueue: TASK_QUEUES.workflows,
    workflowId: jobWorkflowId(row.refId),
    args: [{ projectId: row.projectId, jobId: row.refId, kind }],
    staticSummary: `${kind} ${row.refId}`,
    typedSearchAttributes: searchAttributes({ projectId: row.projectId, jobKind: kind }),
    priority: { priorityKey: PRIORITY.bulk, fairnessKey: row.projectId },
  });
}

function startRelease(client: Client, row: OutboxRow): Promise<unknown> {
  return client.workflow.start('releaseHeld', {
    taskQueue: TASK_QUEUES.workflows,
    workflowId: releaseWorkflowId(row.id),
    args: [{ projectId: row.projectId }],
    staticSummary: `send what was held of project ${row.projectId}`,
    typedSearchAttributes: searchAttributes({ projectId: row.projectId, jobKind: 'hold-release' }),
    priority: { priorityKey: PRIORITY.automation, fairnessKey: row.projectId },
  });
}

function startRestock(client: Client, row: OutboxRow): Promise<unknown> {
  const variantId = String(row.payload.variantId);
  const restockNo = Number(row.payload.restockNo);
  return client.workflow.start('backInStock', {
    taskQueue: TASK_QUEUES.workflows,
    workflowId: restockWorkflowId(row.projectId, variantId, restockNo),
    args: [{ projectId: row.projectId, variantId, restockNo }],
    staticSummary: `variant ${variantId} is back in stock`,
    typedSearchAttributes: searchAttributes({ projectId: row.projectId, jobKind: 'back-in-stock' }),
    priority: { priorityKey: PRIORITY.bulk, fairnessKey: row.projectId },
  });
}

function projectOf(rows: OutboxRow[]): string {
  const projectId = rows[0]?.projectId;
  if (projectId === undefined) throw new Error('a group has at least one row');
  return projectId;
}

const sendNo = (row: OutboxRow): number => Number(row.payload.sendNo);

function unknownKind(kind: never): never {
  throw new Error(`unknown outbox kind ${String(kind)}`);
}
