import { randomUUID } from 'node:crypto';
import {
  type Client,
  isGrpcServiceError,
  type WorkflowExecutionStatusName,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { parseRowId } from '../rules/executions/started-work.ts';
import type { InstallationNames, Target } from './names.ts';
import { readEach } from './read-each.ts';
import { readRunHistory } from './run-histories.ts';
import { buildInstallationCondition } from './search-attributes.ts';

/** A run of a workflow, as Temporal lists it. The list may be a second or two old. */
export interface ListedRun {
  workflowId: string;
  runId: string;
  type: string;
  /** The id of the workflow's row in Postgres. The workflow id contains this row id. */
  rowId: string;
  projectId: string | undefined;
  /** The step at which the execution last waited; undefined before its first wait. */
  stepId: string | undefined;
}

/**
 * The last run of a workflow. Its fields are read from the run itself, because Temporal's list of workflows may be a
 * second or two old.
 */
export interface LastRun {
  runId: string;
  status: WorkflowExecutionStatusName;
  /** The number of activities that are running or wait for their next attempt. */
  pendingActivities: number;
  /** The step at which the execution last waited; undefined before its first wait. */
  stepId: string | undefined;
}

/**
 * Tells whether a workflow with this status has not ended: it is running, or an operator has paused it in Temporal.
 * Returns false if `status` is null or undefined, which means that Temporal does not have the workflow.
 */
export function isOpenStatus(status: string | null | undefined): status is 'RUNNING' | 'PAUSED' {
  return status === 'RUNNING' || status === 'PAUSED';
}

/** The gRPC status code NOT_FOUND: the workflow has ended, or Temporal does not have it. */
const NOT_FOUND = 5;

/** One page of Temporal's list. `next` is the cursor of the next page; null after the last page. */
interface RunPage {
  runs: ListedRun[];
  next: string | null;
}

/** @param p.cursor `next` of the previous page; null for the first page */
interface PageRequest {
  cursor: string | null;
  limit: number;
}

/** Lists running workflows of some types that started before an instant, page by page. */
export function listRunning(
  target: Target,
  p: PageRequest & { types: readonly string[]; startedBefore: Date },
): Promise<RunPage> {
  const types = p.types.map((type) => `'${type}'`).join(', ');
  return listPage(
    target,
    `WorkflowType IN (${types}) AND ExecutionStatus = 'Running' AND StartTime < '${p.startedBefore.toISOString()}'`,
    p,
  );
}

/** Lists runs of executions that ended since an instant as Failed, Canceled, Terminated or TimedOut, page by page. */
export function listEndedBadly(target: Target, p: PageRequest & { since: Date }): Promise<RunPage> {
  const ends = `'Failed', 'Canceled', 'Terminated', 'TimedOut'`;
  return listPage(
    target,
    `WorkflowType = 'contactExecution' AND ExecutionStatus IN (${ends}) AND CloseTime > '${p.since.toISOString()}'`,
    p,
  );
}

/** Lists at most `limit` runs of a workflow type and project that completed since an instant. */
export async function listCompleted(
  target: Target,
  p: { type: string; projectId: string; since: Date; limit: number },
): Promise<{ workflowId: string; runId: string }[]> {
  const { runs } = await listPage(
    target,
    `WorkflowType = '${p.type}' AND ExecutionStatus = 'Completed' AND ProjectId = '${p.projectId}'
      AND CloseTime > '${p.since.toISOString()}'`,
    { cursor: null, limit: p.limit },
  );
  return runs;
}

async function listPage({ client, names }: Target, query: string, { cursor, limit }: PageRequest): Promise<RunPage> {
  const { executions, nextPageToken } = await client.workflowService.listWorkflowExecutions({
    namespace: client.options.namespace,
    query: `${buildInstallationCondition(names)} AND ${query}`,
    pageSize: limit,
    ...(cursor !== null && { nextPageToken: Buffer.from(cursor, 'base64') }),
  });
  const next = nextPageToken?.length ? Buffer.from(nextPageToken).toString('base64') : null;
  return { runs: (executions ?? []).flatMap(toListedRuns), next };
}

type Listed = NonNullable<
  Awaited<ReturnType<Client['workflowService']['listWorkflowExecutions']>>['executions']
>[number];

function readKeyword(attributes: Listed['searchAttributes'], name: string): string | undefined {
  const data = attributes?.indexedFields?.[name]?.data;
  return data ? (JSON.parse(Buffer.from(data).toString()) as string) : undefined;
}

function toListedRuns(info: Listed): ListedRun[] {
  const { workflowId, runId } = info.execution ?? {};
  if (!workflowId || !runId) return [];
  return [
    {
      workflowId,
      runId,
      type: info.type?.name ?? '',
      rowId: parseRowId(workflowId) ?? '',
      projectId: readKeyword(info.searchAttributes, 'ProjectId'),
      stepId: readKeyword(info.searchAttributes, 'StepId'),
    },
  ];
}

/** Finds the last run of each workflow, by workflow id. Workflows that Temporal does not have are absent. */
export async function findLastRuns(client: Client, workflowIds: string[]): Promise<Map<string, LastRun>> {
  const runs = await readEach(workflowIds, (workflowId) => findLastRun(client, workflowId));
  return new Map(
    workflowIds.flatMap((workflowId, n) => {
      const run = runs[n];
      return run ? [[workflowId, run] as const] : [];
    }),
  );
}

async function findLastRun(client: Client, workflowId: string): Promise<LastRun | undefined> {
  try {
    const { runId, status, raw } = await client.workflow.getHandle(workflowId).describe();
    const attributes = raw.workflowExecutionInfo?.searchAttributes;
    return {
      runId,
      status: status.name,
      pendingActivities: raw.pendingActivities?.length ?? 0,
      stepId: readKeyword(attributes, 'StepId'),
    };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/**
 * Finds the executions among these ids that Temporal does not list as running. If the ids do not fit on one page of the
 * list, first counts the running workflows. If their number equals the number of ids, all executions are running, and
 * the list is not needed.
 * @param executionIds in ascending order: all open executions between the first and the last id, except executions
 * whose start is still in the outbox
 */
export async function findNotRunning({ client, names }: Target, executionIds: string[]): Promise<string[]> {
  // Legacy workflow ids do not contain the installation's short id, so legacy and current workflow ids are in different
  // ranges. Each range is checked separately.
  const legacy = executionIds.filter((id) => names.isLegacy(id));
  const current = executionIds.filter((id) => !names.isLegacy(id));
  return [
    ...(await findNotRunningInRange({ client, names }, legacy)),
    ...(await findNotRunningInRange({ client, names }, current)),
  ];
}

/** The size of one page of Temporal's list. Reading one page costs as much as a count. */
const LISTED_AT_ONCE = 1_000;

async function findNotRunningInRange({ client, names }: Target, executionIds: string[]): Promise<string[]> {
  const [first, last] = [executionIds[0], executionIds.at(-1)];
  if (first === undefined || last === undefined) return [];
  const query = buildRunningQuery(names, first, last);
  const isLongList = executionIds.length > LISTED_AT_ONCE;
  if (isLongList && (await client.workflow.count(query)).count === executionIds.length) return [];
  const running = new Set<string>();
  for await (const { workflowId } of client.workflow.list({ query, pageSize: LISTED_AT_ONCE })) running.add(workflowId);
  return executionIds.filter((id) => !running.has(names.execution(id)));
}

function buildRunningQuery(names: InstallationNames, first: string, last: string): string {
  return `${buildInstallationCondition(names)} AND WorkflowType = 'contactExecution' AND ExecutionStatus = 'Running'
    AND WorkflowId >= '${names.execution(first)}' AND WorkflowId <= '${names.execution(last)}'`;
}

/**
 * Requests that a run ends as Canceled. The reason is a code, which the Temporal UI shows and the workflow reads. Uses
 * the gRPC service, because the SDK's client cannot send a reason. Returns false if Temporal responds that the run does
 * not exist or has ended. True does not prove that the run was open: Temporal may accept a request for an ended run.
 */
export async function cancelRun(client: Client, p: CancelRequest): Promise<boolean> {
  const { workflowId, runId = '', reason = '' } = p;
  try {
    await client.workflowService.requestCancelWorkflowExecution({
      namespace: client.options.namespace,
      identity: client.options.identity,
      requestId: randomUUID(),
      workflowExecution: { workflowId, runId },
      reason,
    });
    return true;
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === NOT_FOUND) return false;
    throw error;
  }
}

interface CancelRequest {
  workflowId: string;
  /** The id of the run; the last run if absent. */
  runId?: string;
  /** The reason; absent if an earlier release stored the request to cancel without a reason. */
  reason?: string | undefined;
}

/** Signals a workflow. Does nothing if the workflow is not running. */
export async function signalIfRunning(
  client: Client,
  { workflowId, signal, args = [] }: { workflowId: string; signal: string; args?: unknown[] },
): Promise<void> {
  try {
    await client.workflow.getHandle(workflowId).signal(signal, ...args);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

/** The functions with which recovery reads and repairs workflow runs in Temporal. */
export type Runs = ReturnType<typeof createRunFunctions>;

export function createRunFunctions({ client, names }: Target) {
  return {
    listRunning: (p: Parameters<typeof listRunning>[1]) => listRunning({ client, names }, p),
    listEndedBadly: (p: Parameters<typeof listEndedBadly>[1]) => listEndedBadly({ client, names }, p),
    findLast: (workflowIds: string[]) => findLastRuns(client, workflowIds),
    findNotRunning: (executionIds: string[]) => findNotRunning({ client, names }, executionIds),
    readRunHistory: (run: { workflowId: string; runId: string }) => readRunHistory(client, run),
    signal: (p: Parameters<typeof signalIfRunning>[1]) => signalIfRunning(client, p),
    cancel: (run: CancelRequest) => cancelRun(client, run),
  };
}
