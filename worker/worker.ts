import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { NativeConnection, Runtime, Worker, type WorkerOptions, type WorkflowBundleOption } from '@temporalio/worker';
import type { Logger } from 'pino';
import { activitiesByQueue } from '../activities/registry.ts';
import { connect } from '../db/connection.ts';
import { outboxStore } from '../db/outbox.ts';
import type { Config } from '../domain/config.ts';
import { temporalConnectionOptions } from '../temporal/connection.ts';
import { createLifecycle } from '../temporal/lifecycle.ts';
import { PRIORITY, TASK_QUEUES, type TaskQueue } from '../temporal/names.ts';
import { ensureSchedules } from '../temporal/schedules.ts';
import { ensureSearchAttributes } from '../temporal/search-attributes.ts';
import { startRelay } from './relay.ts';

/** Activities of a queue that run at a time in one process. A mail or a webhook mostly waits; a chunk of a campaign works. */
const CONCURRENCY: Record<Exclude<TaskQueue, 'workflows'>, number> = {
  transactional: 20,
  automation: 40,
  webhooks: 100,
  bulk: 4,
};
/** Postgres connections of one worker process: bulk work and a few dozen short transactions at a time. */
const DB_CONNECTIONS = 20;
/** Activities under way at a stop get this long to finish; `npm start` gives the whole process 20 s. */
const SHUTDOWN_GRACE_MS = 10_000;

export interface RunningWorker {
  /** Drains: no new tasks, activities under way finish, connections close. */
  close(): Promise<void>;
}

export interface WorkerParts {
  log: Logger;
  /** The prebuilt bundle; without it the workflows are bundled from their source (tests, development). */
  workflowBundle?: WorkflowBundleOption;
  /** Called when a part of the worker ends by itself: the process has to end too, so that it is started again. */
  onFatal: (error: Error) => void;
}

/** One worker process: a Temporal worker for each task queue on one connection, and the relay of the outbox. */
export async function startWorker(config: Config, { log, workflowBundle, onFatal }: WorkerParts): Promise<RunningWorker> {
  const { db } = connect({
    connectionString: config.database.url,
    max: DB_CONNECTIONS,
    applicationName: 'tidings-worker',
    onError: (error) => log.warn({ reason: error.message }, 'a Postgres connection broke'),
  });
  const lifecycle = createLifecycle({ temporal: config.temporal, outbox: outboxStore(db), log });
  const connection = await NativeConnection.connect(temporalConnectionOptions(config.temporal));
  await ensureSearchAttributes(lifecycle.client.connection as never, config.temporal.namespace);
  await ensureSchedules(lifecycle.client);
  const workers = await createWorkers({ config, connection, workflowBundle, activities: activitiesByQueue({ config, db, lifecycle, log }) });
  const runs = workers.map((worker) => worker.run().catch((error: Error) => onFatal(error)));
  const relay = startRelay({ db, lifecycle, log });
  return {
    close: async () => {
      await relay.stop();
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await Promise.all(runs);
      await lifecycle.close();
      await connection.close();
      await db.destroy();
    },
  };
}
