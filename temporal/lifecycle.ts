import { Client, Connection, isGrpcServiceError, type WorkflowExecutionStatusName } from '@temporalio/client';
import type { Config } from '../domain/config.ts';
import type { OutboxRow } from '../domain/outbox.ts';
import { createBatcher } from './batcher.ts';
import { temporalConnectionOptions } from './connection.ts';
import { createDispatchQueue, splitIntoGroups } from './dispatch-queue.ts';
import { findMessagesInDelivery, findStatus, findStoppedExecutions, restartTerminated } from './lost-workflows.ts';
import { ensureSchedules } from './schedules.ts';
import { ensureSearchAttributes } from './search-attributes.ts';
import { type Dispatched, dispatchGroup } from './starts.ts';

/** A dev server on a busy machine answers in milliseconds; one that needs longer is not well. */
const RPC_DEADLINE_MS = 10_000;
const PING_DEADLINE_MS = 3_000;
/** An answer that is complete without the run id does not wait long for it. */
const RUN_ID_DEADLINE_MS = 1_000;

/** Rows that Temporal has taken are deleted this often, many at a time: nobody waits for that, and the relay leaves them alone for seconds. */
const REMOVAL_INTERVAL_MS = 100;

/** What the lifecycle does to the outbox (db/outbox.ts); passed in, because `temporal` does not import `db`. */
export interface OutboxStore {
  deleteDispatched(ids: string[]): Promise<void>;
  noteFailure(ids: string[], message: string): Promise<void>;
  /** Which of these rows are for something that has ended, so that a signal to it has nobody to reach. Returns row ids. */
  findEnded(rows: OutboxRow[]): Promise<Set<string>>;
}

export interface Lifecycle {
  /** Dispatches rows in the background, after the commit of their transaction. Never throws: the relay takes what fails. */
  dispatch(rows: OutboxRow[]): void;
  /** Dispatches rows now, the relay's way; resolves when each was tried. */
  dispatchNow(rows: OutboxRow[]): Promise<void>;
  /** Registers search attributes and schedules, where they are missing. Every worker does so at its start. */
  prepareNamespace(): Promise<void>;
  /** The current run of a workflow, for answers that point an operator to it; null where Temporal does not know or answer. */
  findRunId(workflowId: string): Promise<string | null>;
  /** How the last run of a workflow stands; null where Temporal knows of none. */
  findStatus(workflowId: string): Promise<WorkflowExecutionStatusName | null>;
  /** Of executions, in the order of their ids: those without a running workflow, and how its last run stands. */
  findStoppedExecutions(
    executionIds: string[],
  ): Promise<{ executionId: string; status: WorkflowExecutionStatusName | null }[]>;
  /** Ids of the messages of a project that running deliveries have, those included that they have delivered since they began. */
  findMessagesInDelivery(p: { kind: 'email' | 'sms'; projectId: string }): Promise<Set<string>>;
  /** Starts deliveries again that an operator terminated since then; returns their workflow ids. */
  restartTerminated(since: Date): Promise<string[]>;
  /** Throws when Temporal does not answer. */
  ping(): Promise<void>;
  /** Waits for what is under way, then closes the connection; what is queued stays in the outbox, for the relay. */
  close(): Promise<void>;
  readonly client: Client;
}

/** The only place that starts, signals or cancels workflows. Connects lazily, so the API starts and accepts while Temporal is down. */
export function createLifecycle(deps: {
  temporal: Config['temporal'];
  outbox: OutboxStore;
  log: { warn(details: object, message: string): void };
}): Lifecycle {
  const connection = Connection.lazy(temporalConnectionOptions(deps.temporal));
  const client = new Client({ connection, namespace: deps.temporal.namespace });
  const remover = createBatcher<string>((ids) => deps.outbox.deleteDispatched(ids), REMOVAL_INTERVAL_MS);
  const queue = createDispatchQueue(run);
  /** What `close` waits for, beside the queue. */
  const underWay = new Set<Promise<unknown>>();

  async function noted<T>(work: Promise<T>): Promise<T> {
    underWay.add(work);
    try {
      return await work;
    } finally {
      underWay.delete(work);
    }
  }

  /**
   * A question to Temporal, for this long. The client asks again by itself, from a timer, where Temporal is away: on a connection that was
   * closed meanwhile that would end the process, so `close` waits for it.
   */
  function ask<T>(deadlineMs: number, question: () => Promise<T>): Promise<T> {
    return noted(connection.withDeadline(Date.now() + deadlineMs, question));
  }

  async function run(rows: OutboxRow[]): Promise<void> {
    try {
      await settle(await connection.withDeadline(Date.now() + RPC_DEADLINE_MS, () => dispatchGroup(client, rows)));
    } catch (error) {
      await reportFailure(rows, error);
    }
  }

  async function settle({ taken, later }: Dispatched): Promise<void> {
    remove(taken);
    if (later.length === 0) return;
    const ended = await deps.outbox.findEnded(later);
    remove(later.filter((row) => ended.has(row.id)));
  }

  /** Forgets what Temporal has taken, some time soon. A crash before this dispatches it again, which is harmless. */
  function remove(rows: OutboxRow[]): void {
    if (rows.length === 0) return;
    void noted(remover.add(rows.map(idOf)).catch((error: unknown) => reportFailure(rows, error)));
  }

  async function reportFailure(rows: OutboxRow[], error: unknown): Promise<void> {
    const reason = describeFailure(error);
    deps.log.warn({ kind: rows[0]?.kind, rows: rows.length, reason }, 'dispatch failed; the relay tries again');
    // The note is for operators; where Postgres is away as well, there is nowhere to put it.
    await deps.outbox.noteFailure(rows.map(idOf), reason).catch(() => undefined);
  }

  return {
    client,
    dispatch: (rows) => queue.add(rows),
    dispatchNow: async (rows) => {
      await Promise.all(splitIntoGroups(rows).map(run));
    },
    prepareNamespace: async () => {
      await ensureSearchAttributes(connection, deps.temporal.namespace);
      await ensureSchedules(client);
    },
    findRunId: async (workflowId) => {
      const describe = () => client.workflow.getHandle(workflowId).describe();
      const found = await ask(RUN_ID_DEADLINE_MS, describe).catch(() => undefined);
      return found?.runId ?? null;
    },
    findStatus: (workflowId) => ask(RPC_DEADLINE_MS, () => findStatus(client, workflowId)),
    findStoppedExecutions: (executionIds) => findStoppedExecutions(client, executionIds),
    findMessagesInDelivery: (p) => findMessagesInDelivery(client, p),
    restartTerminated: (since) => restartTerminated(client, since),
    ping: async () => {
      await ask(PING_DEADLINE_MS, () => connection.workflowService.getSystemInfo({}));
    },
    close: async () => {
      await queue.close();
      await Promise.allSettled(underWay);
      await connection.close();
    },
  };
}

const idOf = (row: OutboxRow): string => row.id;

function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return isGrpcServiceError(error) ? `Temporal: ${error.message}` : `${error.message}${cause}`;
}
