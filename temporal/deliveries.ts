import { type Client, isGrpcServiceError } from '@temporalio/client';
import type { EmailDeliveryInput } from '../workflows/email-delivery.ts';
import type { SmsDeliveryInput } from '../workflows/sms-delivery.ts';
import type { Target } from './names.ts';
import { readEach } from './read-each.ts';
import { readRunHistory } from './run-histories.ts';
import { type ListedRun, listCompleted } from './run-states.ts';
import { buildInstallationCondition } from './search-attributes.ts';

type Kind = 'email' | 'sms';

type Run = Pick<ListedRun, 'workflowId' | 'runId'>;

/** A run of a delivery workflow, and the messages of its input. */
export interface DeliveryRun extends Run {
  ids: string[];
}

type DeliveryInput = Partial<EmailDeliveryInput & SmsDeliveryInput>;

/** The gRPC status code NOT_FOUND. */
const GRPC_NOT_FOUND = 5;
const COMPLETED_MAX = 1_000;

/** The functions with which recovery finds the delivery workflows of messages. */
export type Deliveries = ReturnType<typeof createDeliveryFinder>;

export function createDeliveryFinder(target: Target) {
  return {
    /** Lists running deliveries of a project, with the ids of the messages in their input. */
    listRunning: (p: { kind: Kind; projectId: string }) => listRunningDeliveries(target, p),
    /** Reads the ids of the messages in the input of delivery workflows. */
    readMessageIds: (runs: Run[]) => readMessageIds(target, runs),
    /**
     * Lists runs of a project's deliveries that completed since an instant and sent at least one message, with the ids
     * of the messages in their input. Reads at most `COMPLETED_MAX` completed runs.
     */
    listSent: (p: { kind: Kind; projectId: string; since: Date }) => listSentDeliveries(target, p),
  };
}

const toWorkflowType = (kind: Kind): string => (kind === 'email' ? 'emailDelivery' : 'smsDelivery');

async function listRunningDeliveries(
  target: Target,
  { kind, projectId }: { kind: Kind; projectId: string },
): Promise<DeliveryRun[]> {
  const query = `${buildInstallationCondition(target.names)} AND WorkflowType = '${toWorkflowType(kind)}'
    AND ExecutionStatus = 'Running' AND ProjectId = '${projectId}'`;
  const runs: Run[] = [];
  for await (const run of target.client.workflow.list({ query })) runs.push(run);
  return readMessageIds(target, runs);
}

function readMessageIds({ client }: Target, runs: Run[]): Promise<DeliveryRun[]> {
  return readEach(runs, async ({ workflowId, runId }) => {
    const [input] = await readRunInput(client, workflowId, runId).catch(emptyIfNotFound);
    return { workflowId, runId, ids: listMessageIds(input as DeliveryInput | undefined) };
  });
}

async function listSentDeliveries(
  { client, names }: Target,
  { kind, projectId, since }: { kind: Kind; projectId: string; since: Date },
): Promise<DeliveryRun[]> {
  const type = toWorkflowType(kind);
  const runs = await listCompleted({ client, names }, { type, projectId, since, limit: COMPLETED_MAX });
  const deliveries: DeliveryRun[] = [];
  for (const run of runs) {
    const { args, done } = await readRunHistory(client, run);
    if (done.some(({ result }) => ((result as { sent?: number } | undefined)?.sent ?? 0) > 0))
      deliveries.push({ ...run, ids: listMessageIds(args[0] as DeliveryInput | undefined) });
  }
  return deliveries;
}

function listMessageIds(input: DeliveryInput | undefined): string[] {
  return input?.carried?.waiting.map(({ id }) => id) ?? input?.emailIds ?? input?.smsIds ?? [];
}

/** Returns an empty list if Temporal no longer has the run that it listed. Throws any other error. */
function emptyIfNotFound(error: unknown): [] {
  if (isGrpcServiceError(error) && error.code === GRPC_NOT_FOUND) return [];
  throw error;
}

/** Reads the arguments of a run from the first event of its history. */
export async function readRunInput(client: Client, workflowId: string, runId: string): Promise<unknown[]> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const payloads = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const { payloadConverter } = client.options.loadedDataConverter;
  return payloads.map((payload) => payloadConverter.fromPayload(payload));
}
