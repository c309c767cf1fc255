import { setTimeout as sleep } from 'node:timers/promises';
import { NativeConnection, type Worker } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Config } from '../rules/config.ts';
import { describeFailure } from '../rules/failure-text.ts';
import { InstallationError } from '../rules/installation-tokens.ts';
import { TASK_QUEUES } from '../rules/queues.ts';
import { buildTemporalConnectionOptions } from '../temporal/connection.ts';
import type { Lifecycle } from '../temporal/lifecycle.ts';
import { type LegacyStore, serveLegacyQueues, shutDownTemporalWorker } from './legacy-queues.ts';
import { createTemporalWorkers, type WorkerFleet } from './temporal-workers.ts';

/**
 * The wait before the next attempt to connect to an unreachable Temporal. The wait doubles each time, up to
 * `RETRY_MAX_MS`.
 */
const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 10_000;

export interface RunningTemporalWorkers {
  /** Takes no new tasks, waits for running activities, and closes the connection. */
  stop(): Promise<void>;
}

/**
 * Runs the Temporal workers of a process. If Temporal is unreachable, keeps trying to connect in the background,
 * because the process can already send single emails and SMS without Temporal. Resolves when the workers run, or after
 * the first failed attempt to reach Temporal.
 * @throws Error if the workers cannot be created for another reason; later errors go to `onFatal`
 */
export async function startTemporalWorkers(p: {
  temporal: Config['temporal'];
  fleet: Omit<WorkerFleet, 'connection' | 'namespace' | 'taskQueue' | 'identity' | 'isLegacy'>;
  lifecycle: Pick<Lifecycle, 'ping' | 'prepareNamespace' | 'names' | 'countLegacyWorkflows' | 'deleteLegacySchedules'>;
  /** The store for the task queues of an earlier release. Undefined if no such queues are left. */
  legacy: LegacyStore | undefined;
  legacyCheckMs?: number | undefined;
  /**
   * Compares the installation's tokens in Postgres and Temporal. Called before this process changes anything in
   * Temporal.
   */
  verify: () => Promise<void>;
  log: Pick<Logger, 'warn' | 'info'>;
  onFatal: (error: Error) => void;
}): Promise<RunningTemporalWorkers> {
  const stopping = new AbortController();
  let legacy: Awaited<ReturnType<typeof serveLegacyQueues>> | undefined;
  let running: { connection: NativeConnection; workers: Worker[]; runs: Promise<unknown> } | undefined;

  async function connectToTemporal(): Promise<NativeConnection | undefined> {
    try {
      // Pings Temporal first, because a ping has a deadline. Creating the schedules and connecting have no deadline,
      // and would wait until the server responds.
      await p.lifecycle.ping();
      await p.verify();
      await p.lifecycle.prepareNamespace();
      return await NativeConnection.connect({
        ...buildTemporalConnectionOptions(p.temporal),
        // Switches off the SDK's gzip compression. Payloads are only a few ids, so compression costs more than it
        // saves.
        grpcCompression: { codec: 'none' },
      });
    } catch (error) {
      if (error instanceof InstallationError) throw error;
      p.log.warn(
        { address: p.temporal.address, namespace: p.temporal.namespace, reason: describeFailure(error) },
        'Temporal cannot be reached: single emails and SMS are sent, all other work waits; check TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and that the server runs',
      );
      return undefined;
    }
  }

  async function startWorkers(connection: NativeConnection): Promise<void> {
    const { names } = p.lifecycle;
    const fleet = { ...p.fleet, connection, namespace: p.temporal.namespace, identity: names.identity() };
    const workers = await createTemporalWorkers({ ...fleet, taskQueue: (queue) => names.taskQueue(queue) });
    running = { connection, workers, runs: Promise.all(workers.map((worker) => worker.run().catch(p.onFatal))) };
    if (!p.legacy) return;
    legacy = await serveLegacyQueues({
      store: p.legacy,
      createWorkers: () =>
        createTemporalWorkers({ ...fleet, taskQueue: (queue) => TASK_QUEUES[queue], isLegacy: true }),
      lifecycle: p.lifecycle,
      log: p.log,
      onFatal: p.onFatal,
      checkMs: p.legacyCheckMs,
    });
  }

  async function startWorkersWhenConnected(): Promise<void> {
    for (let waitMs = RETRY_MIN_MS; !stopping.signal.aborted; waitMs = Math.min(RETRY_MAX_MS, waitMs * 2)) {
      await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
      const connection = stopping.signal.aborted ? undefined : await connectToTemporal();
      if (!connection) continue;
      await startWorkers(connection);
      p.log.info({ address: p.temporal.address }, 'Temporal is reachable: the worker takes its tasks');
      return;
    }
  }

  const connection = await connectToTemporal();
  const startedLater = connection ? await startWorkers(connection) : startWorkersWhenConnected().catch(p.onFatal);
  return {
    stop: async () => {
      stopping.abort();
      await startedLater;
      for (const worker of running?.workers ?? []) shutDownTemporalWorker(worker);
      await legacy?.stop();
      await running?.runs;
      await running?.connection.close();
    },
  };
}
