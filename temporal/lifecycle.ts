import { Client, Connection, isGrpcServiceError, type WorkflowExecutionStatusName } from '@temporalio/client';
import type { Config } from '../rules/config.ts';
import { describeFailure } from '../rules/failure-text.ts';
import type { Installation } from '../rules/installation.ts';
import type { TemporalToken } from '../rules/installation-tokens.ts';
import { temporalConnectionOptions } from './connection.ts';
import { createDeliveries, type Deliveries } from './deliveries.ts';
import type { RowGroup } from './groups.ts';
import { readToken, writeToken } from './installation-token.ts';
import { countLegacyWorkflows, deleteLegacySchedules } from './legacy.ts';
import { findStatus, restartTerminated } from './lost-workflows.ts';
import { InstallationNames } from './names.ts';
import { type QueueStats, readQueueStats } from './queue-stats.ts';
import { cancelRun, createRuns, type Runs } from './run-states.ts';
import { ensureSchedules } from './schedules.ts';
import { ensureSearchAttributes } from './search-attributes.ts';
import { type Dispatched, dispatchGroup } from './starts.ts';

/** A dev server on a busy machine answers in milliseconds; one that needs longer is not well. */
const RPC_DEADLINE_MS = 10_000;
const PING_DEADLINE_MS = 3_000;
/** An answer that is complete without the run id does not wait long for it. */
const RUN_ID_DEADLINE_MS = 1_000;

/**
 * Status codes of gRPC by which Temporal says nothing about what it was asked: not reached, no answer in time, too
 * busy.
 */
const AWAY_CODES = new Set([1, 4, 8, 14]);

/**
 * What became of a group that was handed to Temporal. `away`: it was not reached, or is too busy, for this group and
 * any other.
 */
export type HandOverResult = { outcome: Dispatched } | { outcome: 'failed'; reason: string; away: boolean };

export interface Lifecycle {
  /**
   * Gives a group of rows of `splitIntoGroups` to Temporal. Never rejects; running it twice is harmless.
   * @param p.isRepeated whether rows of the group were given before, and nobody saw them begin
   */
  handOver(group: RowGroup, p?: { isRepeated: boolean }): Promise<HandOverResult>;
  /** Registers search attributes and schedules, where they are missing. Every worker does so at its start. */
  prepareNamespace(): Promise<void>;
  /**
   * The current run of a workflow, for answers that point an operator to it; null where Temporal does not know or
   * answer.
   */
  findRunId(workflowId: string): Promise<string | null>;
  /** Asks a run to end as Canceled. Nothing where it has ended. */
  cancel(run: { workflowId: string; runId: string }): Promise<void>;
  /** How the last run of a workflow stands; null where Temporal knows of none. */
  findStatus(workflowId: string): Promise<WorkflowExecutionStatusName | null>;
  /** Reads and repairs workflows in Temporal, for recovery. */
  readonly runs: Runs;
  readonly deliveries: Deliveries;
  /** Starts deliveries again that an operator terminated since then; returns their workflow ids. */
  restartTerminated(since: Date): Promise<string[]>;
  /**
   * The token by which Temporal recognizes the database; null where it has none of this installation. Throws when
   * Temporal does not answer.
   */
  readToken(): Promise<TemporalToken | null>;
  /** Gives Temporal the next token. Giving it twice is harmless. */
  writeToken(token: TemporalToken): Promise<void>;
  /** How many tasks wait in each queue, and who asks for them. Throws when Temporal does not answer. */
  readQueueStats(): Promise<QueueStats[]>;
  /** Counts the workflows that are open on the queue of the release before installations had names. */
  countLegacyWorkflows(): Promise<number>;
  /** Deletes the schedules of that release. */
  deleteLegacySchedules(): Promise<void>;
  /** Throws when Temporal does not answer. */
  ping(): Promise<void>;
  /** Waits for what is under way, then closes the connection. */
  close(): Promise<void>;
  readonly client: Client;
  /** How this installation names what it has in Temporal. */
  readonly names: InstallationNames;
}

/**
 * The only place that starts, signals or cancels workflows. Connects lazily, so the API starts and accepts while
 * Temporal is down.
 */
export function createLifecycle(deps: {
  temporal: Config['temporal'];
  installation: Installation;
  /** Where the dashboard is: the Temporal UI links to it. */
  publicUrl: string;
}): Lifecycle {
  const connection = Connection.lazy(temporalConnectionOptions(deps.temporal));
  const names = new InstallationNames(deps.installation);
  const client = new Client({ connection, namespace: deps.temporal.namespace, identity: names.identity() });
  const calls = new TemporalCalls(connection);
  const target = { client, names, publicUrl: deps.publicUrl };

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
      await ensureSearchAttributes(connection, deps.temporal.namespace);
      await ensureSchedules(target);
    },
    findRunId: async (workflowId) => {
      const describe = () => client.workflow.getHandle(workflowId).describe();
      const found = await calls.make(RUN_ID_DEADLINE_MS, describe).catch(() => undefined);
      return found?.runId ?? null;
    },
    cancel: async ({ workflowId, runId }) => {
      await calls.make(RPC_DEADLINE_MS, () => cancelRun(client, { workflowId, runId }));
    },
    findStatus: (workflowId) => calls.make(RPC_DEADLINE_MS, () => findStatus(client, workflowId)),
    runs: createRuns(target),
    deliveries: createDeliveries(target),
    restartTerminated: (since) => restartTerminated(target, since),
    readToken: () => calls.make(RPC_DEADLINE_MS, () => readToken(target)),
    writeToken: (token) => calls.make(RPC_DEADLINE_MS, () => writeToken(target, token)),
    readQueueStats: () => calls.make(PING_DEADLINE_MS, () => readQueueStats(target)),
    countLegacyWorkflows: () => calls.make(RPC_DEADLINE_MS, () => countLegacyWorkflows(target)),
    deleteLegacySchedules: () => calls.make(RPC_DEADLINE_MS, () => deleteLegacySchedules(target)),
    ping: async () => {
      await calls.make(PING_DEADLINE_MS, () => connection.workflowService.getSystemInfo({}));
    },
    close: async () => {
      await calls.settled();
      await connection.close();
    },
  };
}

/**
 * Calls of Temporal, each for so long at the most. The client tries again by itself, from a timer, where Temporal is
 * away: on a connection that was closed meanwhile that would end the process, so `close` waits for them.
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

  /** Resolves when none is under way. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.underWay);
  }
}

function describeRefusal(error: unknown): string {
  return isGrpcServiceError(error) ? `Temporal: ${describeFailure(error)}` : describeFailure(error);
}

/** Whether a failure is of the connection or the server, not of what was asked. */
function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isGrpcServiceError(error)) return AWAY_CODES.has(error.code);
  return isAway(error.cause);
}
