import {
  type Client,
  isGrpcServiceError,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  type WorkflowExecutionStatusName,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { EmailDeliveryInput } from '../workflows/email-delivery.ts';
import type { SmsDeliveryInput } from '../workflows/sms-delivery.ts';
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

/** The status code of gRPC. */
const GRPC_NOT_FOUND = 5;
/** Descriptions under way at a time: each is one small RPC. */
const DESCRIBED_AT_A_TIME = 16;

/**
 * How the last runs of executions stand that have no running workflow; null where Temporal knows of none. Temporal's
 * list decides whom to look at and may be seconds old; how each stands it answers by its truth, so one that is RUNNING
 * after all is left out. Where Temporal has as many running as were asked for, one count is all that it costs.
 * @param executionIds in their order, and all that there are from the first to the last, but for those that are not
 * started yet
 */
export async function findStoppedExecutions(
  { client, names }: Target,
  executionIds: string[],
): Promise<{ executionId: string; status: WorkflowExecutionStatusName | null }[]> {
  // Ids of the earlier release and today's do not sort as their rows do, so each kind is a range of its own.
  const legacy = executionIds.filter((id) => names.isLegacy(id));
  const suspects = [
    ...(await findNotRunning({ client, names }, legacy)),
    ...(await findNotRunning(
      { client, names },
      executionIds.filter((id) => !names.isLegacy(id)),
    )),
  ];
  const found = [];
  for (let at = 0; at < suspects.length; at += DESCRIBED_AT_A_TIME) {
    const some = suspects.slice(at, at + DESCRIBED_AT_A_TIME).map(async (executionId) => ({
      executionId,
      status: await findStatus(client, names.execution(executionId)),
    }));
    found.push(...(await Promise.all(some)));
  }
  return found.filter(({ status }) => status !== 'RUNNING');
}

/** Those of a range of executions that Temporal does not list as running. */
async function findNotRunning({ client, names }: Target, executionIds: string[]): Promise<string[]> {
  const [first, last] = [executionIds[0], executionIds.at(-1)];
  if (first === undefined || last === undefined) return [];
  const query = `${ofInstallation(names)} AND WorkflowType = 'contactExecution' AND ExecutionStatus = 'Running'
    AND WorkflowId >= '${names.execution(first)}' AND WorkflowId <= '${names.execution(last)}'`;
  if ((await client.workflow.count(query)).count === executionIds.length) return [];
  const running = new Set<string>();
  for await (const { workflowId } of client.workflow.list({ query })) running.add(workflowId);
  return executionIds.filter((id) => !running.has(names.execution(id)));
}

/**
 * Of which messages deliveries of a project are under way, by the input of each that Temporal lists; what they have
 * delivered since included.
 */
export async function findMessagesInDelivery(
  { client, names }: Target,
  p: { kind: 'email' | 'sms'; projectId: string },
): Promise<Set<string>> {
  const type = p.kind === 'email' ? 'emailDelivery' : 'smsDelivery';
  const query = `${ofInstallation(names)} AND WorkflowType = '${type}' AND ExecutionStatus = 'Running'
    AND ProjectId = '${p.projectId}'`;
  const ids = new Set<string>();
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    const [input] = (await inputOf(client, workflowId, runId).catch(noneIfGone)) as (DeliveryInput | undefined)[];
    const waiting = input?.carried?.waiting.map(({ id }) => id);
    for (const id of waiting ?? input?.emailIds ?? input?.smsIds ?? []) ids.add(id);
  }
  return ids;
}

type DeliveryInput = Partial<EmailDeliveryInput & SmsDeliveryInput>;

/** It has ended since it was listed, and Temporal keeps it no longer. */
function noneIfGone(error: unknown): [] {
  if (isGrpcServiceError(error) && error.code === GRPC_NOT_FOUND) return [];
  throw error;
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

/** The arguments of a run, by the first event of its history. */
async function inputOf(client: Client, workflowId: string, runId: string): Promise<unknown[]> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const payloads = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const { payloadConverter } = client.options.loadedDataConverter;
  return payloads.map((payload) => payloadConverter.fromPayload(payload));
}

async function describe(client: Client, workflowId: string): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await client.workflow.getHandle(workflowId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
