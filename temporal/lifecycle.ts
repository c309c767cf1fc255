import { Client, Connection, isGrpcServiceError, type WorkflowExecutionStatusName } from '@temporalio/client';
import type { Config } from '../rules/config.ts';
import { describeFailure } from '../rules/failure-text.ts';
import type { Installation } from '../rules/installation.ts';
import type { TemporalToken } from '../rules/installation-tokens.ts';
import type { QueueReading, QueueStats } from '../rules/queue-stats.ts';
import { createSharedPromise } from '../rules/shared-promise.ts';
import { buildTemporalConnectionOptions } from './connection.ts';
import { createDeliveryFinder, type Deliveries } from './deliveries.ts';
import type { RowGroup } from './groups.ts';
import { readToken, writeToken } from './installation-token.ts';
import { countLegacyWorkflows, deleteLegacySchedules } from './legacy.ts';
import { findStatus, restartUnfinishedDeliveries } from './lost-workflows.ts';
import { InstallationNames } from './names.ts';
import { readQueueStats } from './queue-stats.ts';
import { cancelRun, createRunFunctions, type Runs } from './run-states.ts';
import { ensureSchedules } from './schedules.ts';
import { ensureSearchAttributes } from './search-attributes.ts';
import { type HandOverOutcome, handOverGroup } from './starts.ts';

/**
 * The deadline of a call. Even a development server on a busy machine responds within milliseconds, so a server that
 * needs longer than this is not healthy.
 */
const RPC_DEADLINE_MS = 10_000;
/** The deadline for registering search attributes. A server needs some seconds before it accepts new attributes. */
const REGISTER_DEADLINE_MS = 40_000;
const PING_DEADLINE_MS = 3_000;
/**
 * The deadline for reading a run id. The deadline is short, because the API's response is useful even without the run
 * id.
 */
const RUN_ID_DEADLINE_MS = 1_000;

/**
 * Status codes of gRPC that are not a refusal of the request itself: the server was unreachable, did not respond in
 * time, or was too busy.
 */
const UNREACHABLE_CODES = new Set([1, 4, 8, 14]);

/**
 * The result of passing a group of outbox rows to Temporal. `isUnreachable` is true if Temporal was unreachable or too
 * busy, so that other groups would fail too.
 */
export type HandOverResult =
  | { outcome: HandOverOutcome }
  | { outcome: 'failed'; reason: string; isUnreachable: boolean };

export interface Lifecycle {
  /**
   * Passes a group of outbox rows (from `splitIntoGroups`) to Temporal: starts, signals or cancels their workflow.
   * Never rejects. Safe to run twice.
   * @param p.isRepeated true if an earlier attempt for these rows may have reached Temporal without being recorded
   */
  handOver(group: RowGroup, p?: { isRepeated: boolean }): Promise<HandOverResult>;
  /**
   * Registers missing search attributes, and creates missing schedules. Every worker calls this function when it
   * starts.
   */
  prepareNamespace(): Promise<void>;
  /**
   * Finds the current run of a workflow, for responses of the API that link to the Temporal UI. Null if Temporal has no
   * such workflow or does not respond.
   */
  findRunId(workflowId: string): Promise<string | null>;
  /** Requests that a run ends as Canceled, with a code as the reason. Does nothing if the run has ended. */
  cancel(run: { workflowId: string; runId: string; reason?: string }): Promise<void>;
  /** Finds the status of a workflow's last run; null if Temporal has no such workflow. */
  findStatus(workflowId: string): Promise<WorkflowExecutionStatusName | null>;
  /** Functions that read and repair workflows in Temporal, for recovery. */
  readonly runs: Runs;
  readonly deliveries: Deliveries;
  /**
   * Restarts deliveries that were terminated or timed out since an instant. Returns the ids of the restarted workflows.
   */
  restartUnfinishedDeliveries(since: Date): Promise<string[]>;
  /**
   * Reads Temporal's copy of the installation's token. Null if Temporal has no token. Throws if Temporal does not
   * respond.
   */
  readToken(): Promise<TemporalToken | null>;
  /** Sends the next token to Temporal, with the state of the task queues if it is known. Safe to run twice. */
  writeToken(token: TemporalToken, reading?: QueueReading): Promise<void>;
  /** Counts the waiting tasks and the pollers of each queue. Throws if Temporal does not respond. */
  readQueueStats(): Promise<QueueStats[]>;
  /** Counts the open workflows on the legacy task queue, whose name does not contain the installation's short id. */
  countLegacyWorkflows(): Promise<number>;
  /** Deletes the legacy schedules, whose ids do not contain the installation's short id. */
  deleteLegacySchedules(): Promise<void>;
  /** Throws if Temporal does not respond, or cannot read the namespace from its database. */
  ping(): Promise<void>;
  /** Waits until no call with a deadline is running, and closes the connection. */
  close(): Promise<void>;
  readonly client: Client;
  /** The names of this installation in Temporal. */
  readonly names: InstallationNames;
}

/**
 * Creates the only object that starts, signals and cancels workflows. Connects to Temporal with the first call, so the
 * API can start and accept requests while Temporal is down.
 */
export function createWorkflowLifecycle(deps: {
  temporal: Config['temporal'];
  installation: Installation;
  /** The URL of the dashboard. Workflows have links to it, which the Temporal UI shows. */
  publicUrl: string;
}): Lifecycle {
  const connection = Connection.lazy(buildTemporalConnectionOptions(deps.temporal));
  const names = new InstallationNames(deps.installation);
  const client = new Client({ connection, namespace: deps.temporal.namespace, identity: names.identity() });
  const calls = new TemporalCalls(connection);
  const target = { client, names, publicUrl: deps.publicUrl };
  /**
   * Registers missing search attributes, because Temporal refuses to start workflows without them. After a success,
   * later calls in this process do nothing.
   */
  const { get: registerAttributes } = createSharedPromise(() =>
    calls.call(REGISTER_DEADLINE_MS, () => ensureSearchAttributes(connection, deps.temporal.namespace)),
  );

  return {
    client,
    names,
    handOver: async (group, { isRepeated } = { isRepeated: false }) => {
      try {
        return { outcome: await calls.call(RPC_DEADLINE_MS, () => handOverGroup(target, group, isRepeated)) };
      } catch (error) {
        return { outcome: 'failed', reason: describeCallFailure(error), isUnreachable: isUnreachableError(error) };
      }
    },
    prepareNamespace: async () => {
      await registerAttributes();
      await ensureSchedules(target);
    },
    findRunId: async (workflowId) => {
      const describe = () => client.workflow.getHandle(workflowId).describe();
      const found = await calls.call(RUN_ID_DEADLINE_MS, describe).catch(() => undefined);
      return found?.runId ?? null;
    },
    cancel: async (run) => {
      await calls.call(RPC_DEADLINE_MS, () => cancelRun(client, run));
    },
    findStatus: (workflowId) => calls.call(RPC_DEADLINE_MS, () => findStatus(client, workflowId)),
    runs: createRunFunctions(target),
    deliveries: createDeliveryFinder(target),
    restartUnfinishedDeliveries: (since) => restartUnfinishedDeliveries(target, since),
    readToken: () => calls.call(RPC_DEADLINE_MS, () => readToken(target)),
    writeToken: async (token, reading) => {
      // The first token of a new namespace is written before anything else has registered the search attributes.
      await registerAttributes();
      await calls.call(RPC_DEADLINE_MS, () => writeToken(target, token, reading));
    },
    readQueueStats: () => calls.call(PING_DEADLINE_MS, () => readQueueStats(target)),
    countLegacyWorkflows: () => calls.call(RPC_DEADLINE_MS, () => countLegacyWorkflows(target)),
    deleteLegacySchedules: () => calls.call(RPC_DEADLINE_MS, () => deleteLegacySchedules(target)),
    ping: async () => {
      await calls.call(PING_DEADLINE_MS, () =>
        connection.workflowService.describeNamespace({ namespace: deps.temporal.namespace }),
      );
    },
    close: async () => {
      await calls.waitUntilIdle();
      await connection.close();
    },
  };
}

/**
 * Calls Temporal with a deadline for each call. While Temporal is unreachable, the client retries after a delay. If the
 * connection is closed during this delay, the next retry would end the process. `close` therefore waits for all calls
 * of this class first.
 */
class TemporalCalls {
  private readonly connection: Connection;
  private readonly running = new Set<Promise<unknown>>();

  constructor(connection: Connection) {
    this.connection = connection;
  }

  async call<T>(deadlineMs: number, call: () => Promise<T>): Promise<T> {
    const result = this.connection.withDeadline(Date.now() + deadlineMs, call);
    this.running.add(result);
    try {
      return await result;
    } finally {
      this.running.delete(result);
    }
  }

  /** Resolves when no call is running. */
  async waitUntilIdle(): Promise<void> {
    await Promise.allSettled(this.running);
  }
}

function describeCallFailure(error: unknown): string {
  return isGrpcServiceError(error) ? `Temporal: ${describeFailure(error)}` : describeFailure(error);
}

/**
 * Tells whether the connection failed or the server was too busy. If false, the server has refused the request itself,
 * or the error did not come from the server.
 */
function isUnreachableError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isGrpcServiceError(error)) return UNREACHABLE_CODES.has(error.code);
  return isUnreachableError(error.cause);
}
