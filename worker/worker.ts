import type { WorkflowBundleOption } from '@temporalio/worker';
import type { Logger } from 'pino';
import { createActivitiesByQueue } from '../activities/registry.ts';
import { watchLoop } from '../compute/loop-watch.ts';
import { connect } from '../db/connection.ts';
import { markLegacyQueuesClosed, readInstallation } from '../db/installation/installation.ts';
import { readInstallationDuties } from '../db/installation/sending-hold.ts';
import { type Release, startHeartbeat } from '../db/operator/processes.ts';
import { createOutboxWaker, type OutboxWaker } from '../db/outbox/outbox-waker.ts';
import { WORKER_CONNECTIONS } from '../db/pool-sizes.ts';
import type { Config } from '../rules/config.ts';
import { describeFailure } from '../rules/failure-text.ts';
import { hasLegacyQueues } from '../rules/installation.ts';
import { getOutboxLoopName } from '../rules/outbox.ts';
import { createWorkflowLifecycle } from '../temporal/lifecycle.ts';
import { createActivityDeps } from './activity-deps.ts';
import { checkInstallation, verifyInstallation } from './installation/check.ts';
import { watchInstallation } from './installation/watch.ts';
import { startOutbox } from './outbox.ts';
import { startTemporalWorkers } from './start-temporal-workers.ts';
import { recordBlockedLoop, recordThreadCpu, useTemporalLogger } from './temporal-logger.ts';
import type { DeploymentVersion } from './temporal-workers.ts';

export interface RunningWorker {
  /** Takes no new tasks, waits for running activities, and closes the connections. */
  close(): Promise<void>;
}

export interface WorkerParts {
  log: Logger;
  /** The prebuilt bundle of the workflows. If undefined, the workflows are bundled from source at the start. */
  workflowBundle: WorkflowBundleOption | undefined;
  /** The release that this process runs, for the operator's page. */
  release?: Release | undefined;
  /** The interval at which the task queues of an earlier release are checked; one minute by default. */
  legacyCheckMs?: number | undefined;
  /**
   * Called when a part of the worker ends unexpectedly. The process then has to end too, so that its supervisor
   * restarts it.
   */
  onFatal: (error: Error) => void;
}

/**
 * Starts one worker process: Temporal workers for the queues that it serves, and the loops that take rows of the
 * outbox.
 */
export async function startWorker(config: Config, parts: WorkerParts): Promise<RunningWorker> {
  const { log } = parts;
  const { metricsHost, metricsPort } = config;
  useTemporalLogger(log, metricsPort === undefined ? undefined : { host: metricsHost, port: metricsPort });
  const loop = watchLoop((held) => {
    recordBlockedLoop(held);
    log.warn(held, 'the event loop was blocked');
  });
  const { db } = connect({
    onResponse: loop.noteResumed,
    connectionString: config.database.url,
    max: WORKER_CONNECTIONS,
    applicationName: 'tidings-worker',
    onError: (error) => log.warn({ reason: describeFailure(error) }, 'a Postgres connection broke'),
  });
  const { installation, verified } = await checkInstallation({
    db,
    config,
    sends: true,
    notifyOperator: (line) => log.warn(line),
  }).catch(async (error: unknown) => {
    await db.destroy();
    throw error;
  });
  const outboxWaker = createOutboxWaker(db);
  const outbox: OutboxWaker = {
    wake(rows) {
      takers.wake(rows.map(getOutboxLoopName));
      // Notifies all processes, so that another process takes the rows if this process is busy.
      outboxWaker.wake(rows);
    },
  };
  const lifecycle = createWorkflowLifecycle({ temporal: config.temporal, installation, publicUrl: config.publicUrl });
  const stopping = new AbortController();
  const { deps, close: closeDeps } = createActivityDeps({
    config,
    db,
    outbox,
    lifecycle,
    log,
    stopping: stopping.signal,
    onComputed: recordThreadCpu,
    onResume: loop.noteResumed,
  });
  const { hold } = await readInstallationDuties(db);
  if (hold) log.info(hold, 'nothing is sent yet');
  const watch = watchInstallation(
    { db, outbox, lifecycle, log },
    { hold, opened: () => takers.wake(), onMismatch: parts.onFatal },
  );
  const takers = startOutbox({
    databaseUrl: config.database.url,
    deps,
    gate: watch,
    queues: config.temporal.queues,
    loop,
    log,
  });
  const temporalWorkers = await startTemporalWorkers({
    temporal: config.temporal,
    fleet: {
      activities: createActivitiesByQueue(deps, watch),
      workflowBundle: parts.workflowBundle,
      queues: config.temporal.queues,
      deployment: getDeploymentVersion(config, parts.release),
      loop,
      noteStarted: takers.noteStarted,
      endLog: deps.endLog,
    },
    lifecycle,
    legacy: hasLegacyQueues(installation)
      ? {
          isClosed: async () => !hasLegacyQueues(await readInstallation(db)),
          close: () => markLegacyQueuesClosed(db),
        }
      : undefined,
    legacyCheckMs: parts.legacyCheckMs,
    verify: verified
      ? async () => {}
      : () => verifyInstallation({ db, lifecycle, notifyOperator: (line) => log.warn(line) }),
    log,
    onFatal: parts.onFatal,
  });
  loop.start();
  const heartbeat = parts.release && startHeartbeat(db, { kind: 'worker', release: parts.release, log });
  return {
    close: async () => {
      stopping.abort();
      await Promise.all([takers.stop(), temporalWorkers.stop(), watch.stop()]);
      loop.stop();
      await heartbeat?.stop();
      await lifecycle.close();
      await closeDeps();
      await db.destroy();
    },
  };
}

/** Returns the worker deployment version of this process; undefined when workers are not versioned. */
function getDeploymentVersion(config: Config, release: Release | undefined): DeploymentVersion | undefined {
  const { deployment } = config.temporal;
  if (deployment === undefined) return undefined;
  // A service that runs from its source has no build id.
  const buildId = release === undefined || release.build === 'unknown' ? 'source' : release.build;
  return { deploymentName: deployment, buildId };
}
