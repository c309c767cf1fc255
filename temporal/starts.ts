import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
  type WorkflowOptions,
} from '@temporalio/client';
import { DELIVERY_EXPIRES_MS } from '../rules/emails/retry-schedule.ts';
import type { OutboxRowOf } from '../rules/outbox.ts';
import { pluralize } from '../rules/pluralize.ts';
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
import { cancelRun, findLastRuns, isOpenStatus } from './run-states.ts';
import { toSearchAttributes } from './search-attributes.ts';

/**
 * The result of handing rows to Temporal:
 * - `accepted`: Temporal has accepted the start, signal or cancellation.
 * - `already_started`: an earlier attempt with the same rows has started the workflow.
 * - `not_running`: the workflow to signal or cancel has not started yet, or has ended.
 */
export type HandOverOutcome = 'accepted' | 'already_started' | 'not_running';

/** The connection for starting workflows, with the URL of the dashboard for links in the Temporal UI. */
type StartTarget = Target & { publicUrl: string };

/** Starts, signals or cancels the workflow for a group of rows. Safe to run twice. */
export async function handOverGroup(
  temporal: StartTarget,
  group: RowGroup,
  isRepeated = false,
): Promise<HandOverOutcome> {
  const { client, names } = temporal;
  switch (group.kind) {
    case 'email.deliver':
    case 'sms.deliver':
    case 'email.simulated':
      throw new Error(`${group.kind} is sent by the workers themselves`);
    case 'webhook.deliver':
      return toStartOutcome(wakeWebhookDelivery(temporal, group));
    case 'execution.start': {
      const [row] = group.rows;
      return row.payload.anew ? startNewRun(temporal, row) : startGroup(temporal, group);
    }
    case 'execution.event': {
      const [{ refId, payload }] = group.rows;
      return toSignalOutcome(client.workflow.getHandle(names.execution(refId)).signal('event', payload));
    }
    case 'execution.cancel': {
      const [{ refId, payload }] = group.rows;
      return cancelExecution(client, { workflowId: names.execution(refId), reason: payload.reason }, isRepeated);
    }
    case 'execution.ended': {
      const [{ refId, payload }] = group.rows;
      return toSignalOutcome(client.workflow.getHandle(names.execution(refId)).signal('ended', payload));
    }
    case 'campaign.changed': {
      const [{ id, refId, payload }] = group.rows;
      return toSignalOutcome(client.workflow.getHandle(names.campaign(refId, payload.sendNo)).signal('changed', id));
    }
    case 'email.retry':
    case 'sms.retry':
    case 'campaign.start':
    case 'job.start':
    case 'hold.release':
    case 'window.changed':
    case 'restock.start':
      return startGroup(temporal, group);
    default:
      return throwUnknownKind(group);
  }
}

async function toStartOutcome(start: Promise<unknown>): Promise<HandOverOutcome> {
  try {
    await start;
    return 'accepted';
  } catch (error) {
    // An earlier attempt with the same rows has already started the workflow.
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'already_started';
    throw error;
  }
}

async function toSignalOutcome(signal: Promise<unknown>): Promise<HandOverOutcome> {
  try {
    await signal;
    return 'accepted';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'not_running';
    throw error;
  }
}

/**
 * Cancels the run of an execution. If the run has already ended, Temporal may accept the request, but no workflow
 * then confirms it to the outbox. A repeated cancellation therefore checks the status of the run first.
 */
async function cancelExecution(
  client: Client,
  p: Parameters<typeof cancelRun>[1],
  isRepeated: boolean,
): Promise<HandOverOutcome> {
  if (isRepeated && !isOpenStatus((await findLastRuns(client, [p.workflowId])).get(p.workflowId)?.status))
    return 'not_running';
  return (await cancelRun(client, p)) ? 'accepted' : 'not_running';
}

/** The arguments for starting the workflow of some rows. */
interface Start {
  type: string;
  workflowId: string;
  args: unknown[];
  /** The text that the Temporal UI shows for the workflow. */
  summary: string;
  attributes: Parameters<typeof toSearchAttributes>[1];
  priority: number;
  options?: Pick<WorkflowOptions, 'workflowIdReusePolicy' | 'memo'>;
}

type StartKind =
  | 'email.retry'
  | 'sms.retry'
  | 'webhook.deliver'
  | 'execution.start'
  | 'campaign.start'
  | 'job.start'
  | 'hold.release'
  | 'window.changed'
  | 'restock.start';

/**
 * Returns its argument. The type parameter makes the compiler check `args` against the parameters of the workflow
 * function.
 */
function typedStart<W extends (...args: never[]) => unknown>(start: Start & { args: Parameters<W> }): Start {
  return start;
}

/** For each kind of outbox row, the function that builds the arguments for starting the row's workflow. */
const STARTS: { [K in StartKind]: (target: StartTarget, rows: RowsOf<K>) => Start } = {
  'email.retry': ({ names }, rows) =>
    typedStart<typeof emailDelivery>({
      type: 'emailDelivery',
      workflowId: names.messages('delivery', listIds(rows)),
      args: [{ projectId: rows[0].projectId, emailIds: [], carried: toDeliveryState(rows) }],
      summary: pluralize(rows.length, 'single email'),
      attributes: { projectId: rows[0].projectId, jobKind: 'email-delivery' },
      priority: PRIORITY.transactional,
    }),
  'sms.retry': ({ names }, rows) =>
    typedStart<typeof smsDelivery>({
      type: 'smsDelivery',
      workflowId: names.messages('sms', listIds(rows)),
      args: [{ projectId: rows[0].projectId, smsIds: [], carried: toDeliveryState(rows) }],
      summary: `${rows.length} SMS`,
      attributes: { projectId: rows[0].projectId, jobKind: 'sms-delivery' },
      priority: PRIORITY.transactional,
    }),
  'webhook.deliver': ({ names }, [{ projectId, payload }]) =>
    typedStart<typeof webhookDelivery>({
      type: 'webhookDelivery',
      workflowId: names.webhooks(payload.endpointId),
      args: [{ projectId, endpointId: payload.endpointId }],
      summary: `webhook deliveries to endpoint ${payload.endpointId}`,
      attributes: { projectId, jobKind: 'webhook-delivery' },
      priority: PRIORITY.automation,
    }),
  'execution.start': ({ names, publicUrl }, [{ id, projectId, refId, payload }]) => {
    const { workflowId, contactId, anew, ...input } = payload;
    const link = `${publicUrl}/app/messages/executions/${workflowId}/${refId}`;
    return typedStart<typeof contactExecution>({
      type: 'contactExecution',
      workflowId: names.execution(refId),
      args: [{ ...input, link }],
      summary: `automation ${workflowId}, contact ${contactId}`,
      attributes: { projectId, contactId, automationId: workflowId },
      priority: PRIORITY.automation,
      options: {
        // If no worker has confirmed a start, a worker hands over the row again, even if the run has ended in the
        // meantime. Temporal must then reject the workflow id, because an execution must run only once. Only the retry
        // of a failed execution (`anew`) starts another run.
        workflowIdReusePolicy: anew ? WorkflowIdReusePolicy.ALLOW_DUPLICATE : WorkflowIdReusePolicy.REJECT_DUPLICATE,
        ...(anew && { memo: { [STARTED_BY]: id } }),
      },
    });
  },
  'campaign.start': ({ names }, [{ projectId, refId: campaignId, payload }]) =>
    typedStart<typeof campaignSend>({
      type: 'campaignSend',
      workflowId: names.campaign(campaignId, payload.sendNo),
      args: [{ projectId, campaignId, sendNo: payload.sendNo }],
      summary: `campaign ${campaignId}`,
      attributes: { projectId, campaignId, jobKind: 'campaign' },
      priority: PRIORITY.bulk,
    }),
  'job.start': (
    { names },
    [
      {
        projectId,
        refId: jobId,
        payload: { kind },
      },
    ],
  ) =>
    // Both workflows have the same parameter, so the type of one of them is used for both.
    typedStart<typeof bulkJob>({
      type: kind === 'import' ? 'contactImport' : 'bulkJob',
      workflowId: names.job(jobId),
      args: [{ projectId, jobId, kind }],
      summary: `${kind} ${jobId}`,
      attributes: { projectId, jobKind: kind },
      priority: PRIORITY.bulk,
    }),
  'hold.release': ({ names }, [{ id, projectId }]) =>
    typedStart<typeof releaseHeld>({
      type: 'releaseHeld',
      workflowId: names.holdRelease(id),
      args: [{ projectId }],
      summary: `release the held emails of project ${projectId}`,
      attributes: { projectId, jobKind: 'hold-release' },
      priority: PRIORITY.automation,
    }),
  'window.changed': ({ names }, [{ id, projectId }]) =>
    typedStart<typeof wakeWindowWaits>({
      type: 'wakeWindowWaits',
      workflowId: names.sendingWindow(id),
      args: [{ projectId }],
      summary: `the sending window of project ${projectId} has changed`,
      attributes: { projectId, jobKind: 'sending-window' },
      priority: PRIORITY.automation,
    }),
  'restock.start': (
    { names },
    [
      {
        id,
        projectId,
        payload: { variantId, restockNo },
      },
    ],
  ) =>
    typedStart<typeof backInStock>({
      type: 'backInStock',
      workflowId: names.restock(id, { projectId, variantId, restockNo }),
      args: [{ projectId, variantId, restockNo }],
      summary: `variant ${variantId} is back in stock`,
      attributes: { projectId, jobKind: 'back-in-stock' },
      priority: PRIORITY.bulk,
    }),
};

type StartGroup = Extract<RowGroup, { kind: StartKind }>;

function startGroup(temporal: StartTarget, group: StartGroup): Promise<HandOverOutcome> {
  const start = buildStart(temporal, group);
  return toStartOutcome(temporal.client.workflow.start(start.type, toStartOptions(temporal.names, start)));
}

function buildStart(temporal: StartTarget, group: StartGroup): Start {
  // The cast is needed because the compiler cannot infer that a group's kind is the kind of its rows.
  const startOfRows = STARTS[group.kind] as (target: StartTarget, rows: StartGroup['rows']) => Start;
  return startOfRows(temporal, group.rows);
}

/**
 * Wakes the workflow of an endpoint, or starts it. The workflow reads the due deliveries from Postgres, so one signal
 * is enough for many events. The signal contains the id of the outbox row, which is deleted when the workflow has
 * received the signal.
 */
function wakeWebhookDelivery(temporal: StartTarget, group: StartGroup & { kind: 'webhook.deliver' }): Promise<unknown> {
  const start = buildStart(temporal, group);
  const signalArgs = [group.rows[0].id];
  return temporal.client.workflow.signalWithStart(start.type, {
    ...toStartOptions(temporal.names, start),
    signal: 'wake',
    signalArgs,
  });
}

function toStartOptions(names: Target['names'], { workflowId, args, summary, attributes, priority, options }: Start) {
  return {
    ...options,
    taskQueue: names.taskQueue('workflows'),
    workflowId,
    args,
    staticSummary: summary,
    typedSearchAttributes: toSearchAttributes(names, attributes),
    priority: { priorityKey: priority, fairnessKey: attributes.projectId },
  };
}

function listIds<K extends 'email.retry' | 'sms.retry'>([first, ...others]: RowsOf<K>): [string, ...string[]] {
  return [first.id, ...others.map((row) => row.id)];
}

/**
 * Returns the initial state of a delivery workflow. The workflow retries its deferred messages for one day after all of
 * them are due, because they may first have to wait until their sending window opens. They are due at about the same
 * time (`splitIntoGroups`).
 */
function toDeliveryState(rows: RowsOf<'email.retry' | 'sms.retry'>): DeliveryState {
  const now = Date.now();
  const sinceMs = Math.max(
    now,
    ...rows.map(({ payload: { dueAt } }) => (dueAt === undefined ? now : Date.parse(dueAt))),
  );
  return {
    waiting: rows.map(({ refId, payload: { dueAt = new Date(now).toISOString(), last } }) => ({
      id: refId,
      dueAt,
      ...(last && { last }),
    })),
    expiresAt: new Date(sinceMs + DELIVERY_EXPIRES_MS).toISOString(),
    sent: 0,
    other: 0,
  };
}

/**
 * The memo field of a run that retries a failed execution. The field contains the id of the outbox row that requested
 * the retry.
 */
const STARTED_BY = 'startedBy';

/**
 * Starts a new run of an execution whose earlier runs have ended. If a run is open, there are two cases. If an earlier
 * attempt with the same row started the open run, the row is done. Otherwise the open run is the failed run, which will
 * end soon. This function then throws, and a worker hands over the row again later. If that happens after the row's own
 * run has ended, another run starts and ends at once, because the database has no work for that run.
 */
async function startNewRun(temporal: StartTarget, row: OutboxRowOf<'execution.start'>): Promise<HandOverOutcome> {
  const outcome = await startGroup(temporal, { kind: 'execution.start', rows: [row] });
  if (outcome === 'accepted') return outcome;
  const { memo } = await temporal.client.workflow.getHandle(temporal.names.execution(row.refId)).describe();
  if (memo?.[STARTED_BY] === row.id) return outcome;
  throw new Error('the workflow run of the failed execution is still open');
}

function throwUnknownKind(group: never): never {
  throw new Error(`unknown outbox kind ${String((group as RowGroup).kind)}`);
}
