import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { type ExecutionInput, executionWorkflowId } from '../domain/execution.ts';
import type { OutboxRow } from '../domain/outbox.ts';
import { DELIVERY_EXPIRES_MS } from '../domain/retry-schedule.ts';
import type { DeliveryState } from '../workflows/delivery-loop.ts';
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

/**
 * What became of rows that were given to Temporal: `taken`, `begun` before (by an earlier dispatch of the same rows), or `absent`: a signal
 * to a workflow that is not there, because it has not started yet or is done.
 */
export type Dispatched = 'taken' | 'begun' | 'absent';

/** Starts or signals what a row (or a group of one kind and project) asks for. Running it twice is harmless. */
export async function dispatchGroup(client: Client, rows: [OutboxRow, ...OutboxRow[]]): Promise<Dispatched> {
  const [first] = rows;
  switch (first.kind) {
    case 'email.deliver':
    case 'sms.deliver':
      throw new Error(`${first.kind} is sent by the workers themselves`);
    case 'email.retry':
      return started(startEmailDelivery(client, rows));
    case 'sms.retry':
      return started(startSmsDelivery(client, rows));
    case 'webhook.deliver':
      return started(wakeWebhookDelivery(client, rows));
    case 'execution.start':
      return started(startExecution(client, first));
    case 'execution.event':
      return signalled(client.workflow.getHandle(executionWorkflowId(first.refId)).signal('event', first.payload));
    case 'execution.cancel':
      return signalled(client.workflow.getHandle(executionWorkflowId(first.refId)).cancel());
    case 'campaign.start':
      return started(startCampaign(client, first));
    case 'campaign.changed':
      return signalled(client.workflow.getHandle(campaignWorkflowId(first.refId, sendNo(first))).signal('changed'));
    case 'job.start':
      return started(startJob(client, first));
    case 'hold.release':
      return started(startRelease(client, first));
    case 'restock.start':
      return started(startRestock(client, first));
    default:
      return unknownKind(first.kind);
  }
}

async function started(start: Promise<unknown>): Promise<Dispatched> {
  try {
    await start;
    return 'taken';
  } catch (error) {
    // Started by an earlier dispatch of the same rows: that is what was asked for.
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'begun';
    throw error;
  }
}

async function signalled(signal: Promise<unknown>): Promise<Dispatched> {
  try {
    await signal;
    return 'taken';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'absent';
    throw error;
  }
}

function startEmailDelivery(client: Client, rows: OutboxRow[]): Promise<unknown> {
  const projectId = projectOf(rows);
  return client.workflow.start('emailDelivery', {
    taskQueue: TASK_QUEUES.workflows,
    workflowId: groupWorkflowId(
      'delivery',
      rows.map((row) => row.id),
    ),
    args: [{ projectId, emailIds: [], carried: deliveryOf(rows) }],
    staticSummary: `${rows.length} transactional mail${rows.length === 1 ? '' : 's'}`,
    typedSearchAttributes: searchAttributes({ projectId, jobKind: 'email-delivery' }),
    priority: { priorityKey: PRIORITY.transactional, fairnessKey: projectId },
  });
}

function startSmsDelivery(client: Client, rows: OutboxRow[]): Promise<unknown> {
  const projectId = projectOf(rows);
  return client.workflow.start('smsDelivery', {
    taskQueue: TASK_QUEUES.workflows,
    workflowId: groupWorkflowId(
      'sms',
      rows.map((row) => row.id),
    ),
    args: [{ projectId, smsIds: [], carried: deliveryOf(rows) }],
    staticSummary: `${rows.length} SMS`,
    typedSearchAttributes: searchAttributes({ projectId, jobKind: 'sms-delivery' }),
    priority: { priorityKey: PRIORITY.transactional, fairnessKey: projectId },
  });
}

/** Messages that did not go at the first attempt: each waits for its next one, for a day from now at most. */
function deliveryOf(rows: OutboxRow[]): DeliveryState {
  const now = Date.now();
  return {
    waiting: rows.map(({ refId, payload }) => ({
      id: refId,
      dueAt: typeof payload.dueAt === 'string' ? payload.dueAt : new Date(now).toISOString(),
    })),
    expiresAt: new Date(now + DELIVERY_EXPIRES_MS).toISOString(),
    sent: 0,
    other: 0,
  };
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
    // Where nobody saw that it has begun the row comes again, maybe when it has ended: an execution runs once.
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
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
