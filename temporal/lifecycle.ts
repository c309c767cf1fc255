import { Client, Connection, isGrpcServiceError, type WorkflowExecutionStatusName } from '@temporalio/client';
import type { Config } from '../rules/config.ts';
import { describeFailure } from '../rules/failure-text.ts';
import type { Installation } from '../rules/installation.ts';
import type { TemporalToken } from '../rules/installation-tokens.ts';
import type { QueueReading, QueueStats } from '../rules/queue-stats.ts';
import { temporalConnectionOptions } from './connection.ts';
import { createDeliveries, type Deliveries } from './deliveries.ts';
import type { RowGroup } from './groups.ts';
import { readToken, writeToken } from './installation-token.ts';
import { countLegacyWorkflows, deleteLegacySchedules } from './legacy.ts';
import { findStatus, restartTerminated } from './lost-workflows.ts';
import { InstallationNames } from './names.ts';
import { readQueueStats } from './queue-stats.ts';
import { cancelRun, createRuns, type Runs } from './run-states.ts';
import { ensureSchedules } from './schedules.ts';
import { ensureSearchAttributes } from './search-attributes.ts';
import { type Dispatched, dispatchGroup } from './starts.ts';

/**
 * The deadline of a call. Even a dev server on a busy machine responds in milliseconds, so a server that needs longer
 * is not healthy.
 */
const RPC_DEADLINE_MS = 10_000;
/** A server needs some seconds to accept new search attributes. */
const REGISTER_DEADLINE_MS = 40_000;
const PING_DEADLINE_MS = 3_000;
/** The deadline for reading a run id. It is short, because the API's response is useful without the run id. */
const RUN_ID_DEADLINE_MS = 1_000;

/** Status codes of gRPC that say nothing about the request itself: not reached, no response in time, too busy. */
const AWAY_CODES = new Set([1, 4, 8, 14]);

/**
 * The result of handing a group to Temporal. `away`: Temporal could not be reached or is too busy, so other groups
 * would fail too.
 */
export type HandOverResult = { outcome: Dispatched } | { outcome: 'failed'; reason: string; away: boolean };

export interface Lifecycle {
  /**
   * Hands a group of rows from `splitIntoGroups` to Temporal. Never rejects; safe to run twice.
   * @param p.isRepeated whether rows of the group were handed over before and their start was not reported
   */
  handOver(group: RowGroup, p?: { isRepeated: boolean }): Promise<HandOverResult>;
  /** Registers missing search attributes and schedules. Every worker calls it at its start. */
  prepareNamespace(): Promise<void>;
  /**
   * Finds the current run of a workflow, for responses that link to the Temporal UI. Null when Temporal does not know
   * it or does not respond.
   */
  findRunId(workflowId: string): Promise<string | null>;
  /** Asks a run to end as Canceled, with a code as the reason. Does nothing when it has ended. */
  cancel(run: { workflowId: string; runId: string; reason?: string }): Promise<void>;
  /** Finds the status of a workflow's last run; null when Temporal knows none. */
  findStatus(workflowId: string): Promise<WorkflowExecutionStatusName | null>;
  /** Reads and repairs workflows in Temporal, for recovery. */
  readonly runs: Runs;
  readonly deliveries: Deliveries;
  /** Restarts deliveries that an operator has terminated since an instant. Returns their workflow ids. */
  restartTerminated(since: Date): Promise<string[]>;
  /**
   * Reads Temporal's copy of the installation's token. Null if Temporal has none. Throws when Temporal does not
   * respond.
   */
  readToken(): Promise<TemporalToken | null>;
  /** Signals the next token to Temporal, with the state of the task queues if it is known. Safe to repeat. */
  writeToken(token: TemporalToken, reading?: QueueReading): Promise<void>;
  /** Counts waiting tasks and pollers for each queue. Throws when Temporal does not respond. */
  readQueueStats(): Promise<QueueStats[]>;
  /** Counts the open workflows on the queue of the release before installations had names. */
  countLegacyWorkflows(): Promise<number>;
  /** Deletes the schedules of that release. */
  deleteLegacySchedules(): Promise<void>;
  /** Throws when Temporal does not respond. */
  ping(): Promise<void>;
  /** Waits for running calls, then closes the connection. */
  close(): Promise<void>;
  readonly client: Client;
  /** The names of this installation in Temporal. */
  readonly names: InstallationNames;
}

/**
 * Starts, signals and cancels workflows; no other code does. Connects lazily, so the API starts and accepts requests
 * while Temporal is down.
 */
export function createWorkflowLifecycle(deps: {
  temporal: Config['temporal'];
  installation: Installation;
  /** The address of the dashboard, which the Temporal UI links to. */
  publicUrl: string;
}): Lifecycle {
  const connection = Connection.lazy(temporalConnectionOptions(deps.temporal));
  const names = new InstallationNames(deps.installation);
  const client = new Client({ connection, namespace: deps.temporal.namespace, identity: names.identity() });
  const calls = new TemporalCalls(connection);
  const target = { client, names, publicUrl: deps.publicUrl };
  let attributes: Promise<void> | undefined;

  /** Registers missing search attributes, without which Temporal refuses each start. Asks once for each process. */
  function registerAttributes(): Promise<void> {
    attributes ??= calls
      .make(REGISTER_DEADLINE_MS, () => ensureSearchAttributes(connection, deps.temporal.namespace))
      .catch((error: unknown) => {
        attributes = undefined;
        throw error;
      });
    return attributes;
  }

  return {
    client,
    names,
    handOver: async (group, { isRepeated } = { isRepeated: false }) => {
      try {
        return { outcome: await calls.make(RPC_DEADLINE_MS, () => dispatchGroup(target, group, isRepeated)) };
      } catch (error) {
        return { outcome: 'failed', reason: describeRefusal(error), away: isAway(error) };
      }
    },
    prepareNamespace: async () => {
      await registerAttributes();
      await ensureSchedules(target);
    },
    findRunId: async (workflowId) => {
      const describe = () => client.workflow.getHandle(workflowId).describe();
      const found = await calls.make(RUN_ID_DEADLINE_MS, describe).catch(() => undefined);
      return found?.runId ?? null;
    },
    cancel: async (run) => {
      await calls.make(RPC_DEADLINE_MS, () => cancelRun(client, run));
    },
    findStatus: (workflowId) => calls.make(RPC_DEADLINE_MS, () => findStatus(client, workflowId)),
    runs: createRuns(target),
    deliveries: createDeliveries(target),
    restartTerminated: (since) => restartTerminated(target, since),
    readToken: () => calls.make(RPC_DEADLINE_MS, () => readToken(target)),
    writeToken: async (token, reading) => {
      // The first token of a new namespace is written before anything else.
      await registerAttributes();
      await calls.make(RPC_DEADLINE_MS, () => writeToken(target, token, reading));
    },
    readQueueStats: () => calls.make(PING_DEADLINE_MS, () => readQueueStats(target)),
    countLegacyWorkflows: () => calls.make(RPC_DEADLINE_MS, () => countLegacyWorkflows(target)),
    deleteLegacySchedules: () => calls.make(RPC_DEADLINE_MS, () => deleteLegacySchedules(target)),
    ping: async () => {
      await calls.make(PING_DEADLINE_MS, () => connection.workflowService.getSystemInfo({}));
    },
    close: async () => {
      await calls.settle();
      await connection.close();
    },
  };
}

/**
 * Calls Temporal with a deadline for each call. The client retries on a timer while Temporal is unreachable. A retry on
 * a connection that was closed in the meantime would end the process, so `close` waits for it.
 */
class TemporalCalls {
  private readonly connection: Connection;
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(connection: Connection) {
    this.connection = connection;
  }

  async make<T>(deadlineMs: number, call: () => Promise<T>): Promise<T> {
    const made = this.connection.withDeadline(Date.now() + deadlineMs, call);
    this.underWay.add(made);
    try {
      return await made;
    } finally {
      this.underWay.delete(made);
    }
  }

  /** Resolves when no call is running. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.underWay);
  }
}

function describeRefusal(error: unknown): string {
  return isGrpcServiceError(error) ? `Temporal: ${describeFailure(error)}` : describeFailure(error);
}

/** Tells whether the connection or the server failed, rather than the request. */
function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isGrpcServiceError(error)) return AWAY_CODES.has(error.code);
  return isAway(error.cause);
}
