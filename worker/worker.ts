import { NativeConnection, type Worker, type WorkflowBundleOption } from '@temporalio/worker';
import type { Logger } from 'pino';
import { activitiesByQueue } from '../activities/registry.ts';
import { connect } from '../db/connection.ts';
import { outboxStore } from '../db/outbox.ts';
import type { Config } from '../domain/config.ts';
import { temporalConnectionOptions } from '../temporal/connection.ts';
import { createLifecycle } from '../temporal/lifecycle.ts';
import { createActivityDeps } from './activity-deps.ts';
import { startRelay } from './relay.ts';
import { useTemporalLogger } from './temporal-logger.ts';
import { createTemporalWorkers } from './temporal-workers.ts';

/** Postgres connections of one worker process: bulk work and a few dozen short transactions at a time. */
const DB_CONNECTIONS = 20;

export interface RunningWorker {
  /** Drains: no new tasks, activities under way finish, connections close. */
  close(): Promise<void>;
}

export interface WorkerParts {
  log: Logger;
  /** The prebuilt bundle; without it the workflows are bundled from their source. */
  workflowBundle: WorkflowBundleOption | undefined;
  /** Called when a part of the worker ends by itself: the process has to end too, so that it is started again. */
  onFatal: (error: Error) => void;
}

/** One worker process: Temporal workers for all task queues, and the relay of the outbox. */
export async function startWorker(config: Config, parts: WorkerParts): Promise<RunningWorker> {
  const { log, workflowBundle, onFatal } = parts;
  const { host, metricsPort } = config;
  useTemporalLogger(log, metricsPort === undefined ? undefined : { host, port: metricsPort });
  const { db } = connect({
    connectionString: config.database.url,
    max: DB_CONNECTIONS,
    applicationName: 'tidings-worker',
    onError: (error) => log.warn({ reason: error.message }, 'a Postgres connection broke'),
  });
  const lifecycle = createLifecycle({ temporal: config.temporal, outbox: outboxStore(db), log });
  await lifecycle.prepareNamespace();
  const channels = createActivityDeps({ config, db, lifecycle, log });
  const connection = await NativeConnection.connect({
    ...temporalConnectionOptions(config.temporal),
    // Payloads are a few ids: gzip, the default, costs both sides more than the bytes that it saves.
    grpcCompression: { codec: 'none' },
  });
  const workers = await createTemporalWorkers({
    connection,
    namespace: config.temporal.namespace,
    activities: activitiesByQueue(channels.deps),
    workflowBundle,
  });
  const runs = workers.map((worker) => worker.run().catch(onFatal));
  const relay = startRelay({ db, lifecycle, log });
  return {
    close: async () => {
      await relay.stop();
      for (const worker of workers) stop(worker);
      await Promise.all(runs);
      await lifecycle.close();
      await channels.close();
      await connection.close();
      await db.destroy();
    },
  };
}

/** A worker that failed has stopped by itself. */
function stop(worker: Worker): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}
