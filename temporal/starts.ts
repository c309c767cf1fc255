import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { DELIVERY_EXPIRES_MS } from '../rules/emails/retry-schedule.ts';
import type { OutboxRowOf } from '../rules/outbox.ts';
import { PRIORITY } from '../rules/queues.ts';
import type { DeliveryState } from '../workflows/delivery-loop.ts';
import type {
  backInStock,
  bulkJob,
  campaignSend,
  contactExecution,
  emailDelivery,
  releaseHeld,
  smsDelivery,
  wakeWindowWaits,
  webhookDelivery,
} from '../workflows/registry.ts';
import type { RowGroup, RowsOf } from './groups.ts';
import type { Target } from './names.ts';
import { findLastRuns } from './run-states.ts';
import { searchAttributes } from './search-attributes.ts';

/**
 * What became of rows that were given to Temporal: `taken`, `begun` before (by an earlier dispatch of the same rows),
 * or `absent`: a signal to a workflow that is not there, because it has not started yet or is done.
 */
export type Dispatched = 'taken' | 'begun' | 'absent';

/** Where workflows start, and the address of the dashboard, to which the Temporal UI links. */
type StartTarget = Target & { publicUrl: string };

/** Starts or signals what a row (or a group of one kind and project) asks for. Running it twice is harmless. */
export async function dispatchGroup(temporal: StartTarget, group: RowGroup, isRepeated = false): Promise<Dispatched> {
  const { client, names } = temporal;
  switch (group.kind) {
    case 'email.deliver':
    case 'sms.deliver':
    case 'email.simulated':
      throw new Error(`${group.kind} is sent by the workers themselves`);
    case 'email.retry':
      return started(startEmailDelivery(temporal, group.rows));
    case 'sms.retry':
      return started(startSmsDelivery(temporal, group.rows));
    case 'webhook.deliver':
      return started(wakeWebhookDelivery(temporal, group.rows));
    case 'execution.start': {
      const [row] = group.rows;
      return row.payload.anew ? startAnew(temporal, row) : started(startExecution(temporal, row));
    }
    case 'execution.event': {
      const [{ refId, payload }] = group.rows;
      return signalled(client.workflow.getHandle(names.execution(refId)).signal('event', payload));
    }
    case 'execution.cancel':
      return cancelExecution(client, names.execution(group.rows[0].refId), isRepeated);
    case 'execution.ended': {
      const [{ refId, payload }] = group.rows;
      return signalled(client.workflow.getHandle(names.execution(refId)).signal('ended', payload));
    }
    case 'campaign.start':
      return started(startCampaign(temporal, group.rows[0]));
    case 'campaign.changed': {
      const [{ refId, payload }] = group.rows;
      return signalled(client.workflow.getHandle(names.campaign(refId, payload.sendNo)).signal('changed'));
    }
    case 'job.start':
      return started(startJob(temporal, group.rows[0]));
    case 'hold.release':
      return started(startRelease(temporal, group.rows[0]));
    case 'window.changed':
      return started(startWindowWakes(temporal, group.rows[0]));
    case 'restock.start':
      return started(startRestock(temporal, group.rows[0]));
    default:
      return unknownKind(group);
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

/**
 * Temporal takes a cancel of a run that is over as well, and nobody ever sees it begin. A second one asks first.
 */
async function cancelExecution(client: Client, workflowId: string, isRepeated: boolean): Promise<Dispatched> {
  if (isRepeated && (await findLastRuns(client, [workflowId])).get(workflowId)?.status !== 'RUNNING') return 'absent';
  return signalled(client.workflow.getHandle(workflowId).cancel());
}

function startEmailDelivery({ client, names }: Target, rows: RowsOf<'email.retry'>): Promise<unknown> {
  const [{ projectId }] = rows;
  return client.workflow.start<typeof emailDelivery>('emailDelivery', {
    taskQueue: names.taskQueue('workflows'),
    workflowId: names.messages('delivery', idsOf(rows)),
    args: [{ projectId, emailIds: [], carried: deliveryOf(rows) }],
    staticSummary: `${rows.length} transactional mail${rows.length === 1 ? '' : 's'}`,
    typedSearchAttributes: searchAttributes(names, { projectId, jobKind: 'email-delivery' }),
    priority: { priorityKey: PRIORITY.transactional, fairnessKey: projectId },
  });
}

function startSmsDelivery({ client, names }: Target, rows: RowsOf<'sms.retry'>): Promise<unknown> {
  const [{ projectId }] = rows;
  return client.workflow.start<typeof smsDelivery>('smsDelivery', {
    taskQueue: names.taskQueue('workflows'),
    workflowId: names.messages('sms', idsOf(rows)),
    args: [{ projectId, smsIds: [], carried: deliveryOf(rows) }],
    staticSummary: `${rows.length} SMS`,
    typedSearchAttributes: searchAttributes(names, { projectId, jobKind: 'sms-delivery' }),
    priority: { priorityKey: PRIORITY.transactional, fairnessKey: projectId },
  });
}

function idsOf<K extends 'email.retry' | 'sms.retry'>([first, ...others]: RowsOf<K>): [string, ...string[]] {
  return [first.id, ...others.map((row) => row.id)];
}

/** Messages that did not go at the first attempt: each waits for its next one, for a day from now at most. */
function deliveryOf(rows: RowsOf<'email.retry' | 'sms.retry'>): DeliveryState {
  const now = Date.now();
  return {
    waiting: rows.map(({ refId, payload: { dueAt = new Date(now).toISOString(), last } }) => ({
      id: refId,
      dueAt,
      ...(last && { last }),
    })),
    expiresAt: new Date(now + DELIVERY_EXPIRES_MS).toISOString(),
    sent: 0,
    other: 0,
  };
}

/**
 * Wakes the one workflow of an endpoint, or starts it. What is due it finds by itself, so that many events cost
 * Temporal one signal.
 */
function wakeWebhookDelivery({ client, names }: Target, [first]: RowsOf<'webhook.deliver'>): Promise<unknown> {
  const { projectId, payload } = first;
  return client.workflow.signalWithStart<typeof webhookDelivery>('webhookDelivery', {
    taskQueue: names.taskQueue('workflows'),
    workflowId: names.webhooks(payload.endpointId),
    args: [{ projectId, endpointId: payload.endpointId }],
    signal: 'wake',
    staticSummary: `webhook deliveries to endpoint ${payload.endpointId}`,
    typedSearchAttributes: searchAttributes(names, { projectId, jobKind: 'webhook-delivery' }),
    priority: { priorityKey: PRIORITY.automation, fairnessKey: projectId },
  });
}

/** Memo of a run that takes up a failed execution: the row of the outbox that asked for it. */
const STARTED_BY = 'startedBy';

/**
 * Starts a run beside those that are over. One that still runs is this row's own from an earlier dispatch, or the one
 * that failed, which has only to return: the row comes again soon. One that comes again when its run is over starts
 * another, which finds in the database that it has nothing to do.
 */
async function startAnew(temporal: StartTarget, row: OutboxRowOf<'execution.start'>): Promise<Dispatched> {
  const outcome = await started(startExecution(temporal, row));
  if (outcome === 'taken') return outcome;
  const { memo } = await temporal.client.workflow.getHandle(temporal.names.execution(row.refId)).describe();
  if (memo?.[STARTED_BY] === row.id) return outcome;
  throw new Error('the run that failed has not ended yet');
}

function startExecution(
  { client, names, publicUrl }: StartTarget,
  row: OutboxRowOf<'execution.start'>,
): Promise<unknown> {
  const { workflowId, contactId, anew, ...input } = row.payload;
  const link = `${publicUrl}/app/messages/executions/${workflowId}/${row.refId}`;
  return client.workflow.start<typeof contactExecution>('contactExecution', {
    taskQueue: names.taskQueue('workflows'),
    workflowId: names.execution(row.refId),
    // Where nobody saw that it has begun the row comes again, maybe when it has ended: an execution runs once.
    workflowIdReusePolicy: anew ? WorkflowIdReusePolicy.ALLOW_DUPLICATE : WorkflowIdReusePolicy.REJECT_DUPLICATE,
    ...(anew && { memo: { [STARTED_BY]: row.id } }),
    args: [{ ...input, link }],
    staticSummary: `workflow ${workflowId}, contact ${contactId}`,
    typedSearchAttributes: searchAttributes(names, { projectId: row.projectId, contactId, automationId: workflowId }),
    priority: { priorityKey: PRIORITY.automation, fairnessKey: row.projectId },
  });
}

function startCampaign({ client, names }: Target, row: OutboxRowOf<'campaign.start'>): Promise<unknown> {
  const { sendNo } = row.payload;
  return client.workflow.start<typeof campaignSend>('campaignSend', {
    taskQueue: names.taskQueue('workflows'),
    workflowId: names.campaign(row.refId, sendNo),
    args: [{ projectId: row.projectId, campaignId: row.refId, sendNo }],
    staticSummary: `campaign ${row.refId}`,
    typedSearchAttributes: searchAttributes(names, {
      projectId: row.projectId,
      campaignId: row.refId,
      jobKind: 'campaign',
    }),
    priority: { priorityKey: PRIORITY.bulk, fairnessKey: row.projectId },
  });
}

function startJob({ client, names }: Target, row: OutboxRowOf<'job.start'>): Promise<unknown> {
  const { kind } = row.payload;
  // Both take a job; the type of one stands for both.
  return client.workflow.start<typeof bulkJob>(kind === 'import' ? 'contactImport' : 'bulkJob', {
    taskQueue: names.taskQueue('workflows'),
    workflowId: names.job(row.refId),
    args: [{ projectId: row.projectId, jobId: row.refId, kind }],
    staticSummary: `${kind} ${row.refId}`,
    typedSearchAttributes: searchAttributes(names, { projectId: row.projectId, jobKind: kind }),
    priority: { priorityKey: PRIORITY.bulk, fairnessKey: row.projectId },
  });
}

function startRelease({ client, names }: Target, row: OutboxRowOf<'hold.release'>): Promise<unknown> {
  return client.workflow.start<typeof releaseHeld>('releaseHeld', {
    taskQueue: names.taskQueue('workflows'),
    workflowId: names.holdRelease(row.id),
    args: [{ projectId: row.projectId }],
    staticSummary: `send what was held of project ${row.projectId}`,
    typedSearchAttributes: searchAttributes(names, { projectId: row.projectId, jobKind: 'hold-release' }),
    priority: { priorityKey: PRIORITY.automation, fairnessKey: row.projectId },
  });
}

function startWindowWakes({ client, names }: Target, row: OutboxRowOf<'window.changed'>): Promise<unknown> {
  return client.workflow.start<typeof wakeWindowWaits>('wakeWindowWaits', {
    taskQueue: names.taskQueue('workflows'),
    workflowId: names.sendingWindow(row.id),
    args: [{ projectId: row.projectId }],
    staticSummary: `the sending window of project ${row.projectId} has changed`,
    typedSearchAttributes: searchAttributes(names, { projectId: row.projectId, jobKind: 'sending-window' }),
    priority: { priorityKey: PRIORITY.automation, fairnessKey: row.projectId },
  });
}

function startRestock({ client, names }: Target, row: OutboxRowOf<'restock.start'>): Promise<unknown> {
  const { variantId, restockNo } = row.payload;
  return client.workflow.start<typeof backInStock>('backInStock', {
    taskQueue: names.taskQueue('workflows'),
    workflowId: names.restock(row.id, { projectId: row.projectId, variantId, restockNo }),
    args: [{ projectId: row.projectId, variantId, restockNo }],
    staticSummary: `variant ${variantId} is back in stock`,
    typedSearchAttributes: searchAttributes(names, { projectId: row.projectId, jobKind: 'back-in-stock' }),
    priority: { priorityKey: PRIORITY.bulk, fairnessKey: row.projectId },
  });
}

function unknownKind(group: never): never {
  throw new Error(`unknown outbox kind ${String((group as RowGroup).kind)}`);
}
