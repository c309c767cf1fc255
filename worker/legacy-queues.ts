import type { Worker } from '@temporalio/worker';
import type { Logger } from 'pino';
import { describeFailure } from '../rules/failure-text.ts';
import type { Lifecycle } from '../temporal/lifecycle.ts';

/** Stores in Postgres, for all workers, whether the legacy task queues are closed. */
export interface LegacyStore {
  /**
   * Tells whether the queues are closed: a worker has found them empty, at a time when no process of a legacy release
   * could add work to them.
   */
  isClosed(): Promise<boolean>;
  /** Records that the queues are empty. Does nothing while a process of a legacy release may still add work to them. */
  close(): Promise<void>;
}

/** Each worker checks the queues at this interval. A check costs one count in Temporal and one read in Postgres. */
const CHECK_MS = 60_000;
/**
 * The queues count as empty after this many counts of zero in a row. One count is not enough, because Temporal lists a
 * workflow some time after its start.
 */
const EMPTY_CHECKS = 2;

/**
 * Serves the legacy task queues, whose names do not contain the installation's short id, until no workflow on these
 * queues is open. Deletes the legacy schedules at each check, because a process of a legacy release may start during
 * the upgrade and create them again.
 */
export async function serveLegacyQueues(p: {
  store: LegacyStore;
  createWorkers: () => Promise<Worker[]>;
  lifecycle: Pick<Lifecycle, 'countLegacyWorkflows' | 'deleteLegacySchedules'>;
  log: Pick<Logger, 'info' | 'warn'>;
  onFatal: (error: Error) => void;
  checkMs?: number | undefined;
}): Promise<{ stop(): Promise<void> }> {
  const workers = await p.createWorkers();
  const runs = Promise.all(workers.map((worker) => worker.run().catch(p.onFatal)));
  let emptyChecks = 0;

  async function checkQueues(): Promise<void> {
    await p.lifecycle.deleteLegacySchedules();
    emptyChecks = (await p.lifecycle.countLegacyWorkflows()) === 0 ? emptyChecks + 1 : 0;
    if (emptyChecks >= EMPTY_CHECKS) await p.store.close();
    if (!(await p.store.isClosed())) return;
    clearInterval(timer);
    for (const worker of workers) shutDownTemporalWorker(worker);
    p.log.info('the task queues of the earlier release are empty and no longer served');
  }
  const checkOrWarn = (): Promise<void> =>
    checkQueues().catch((error) =>
      p.log.warn({ reason: describeFailure(error) }, 'the task queues of the earlier release were not checked'),
    );
  const timer = setInterval(() => {
    check = check.then(checkOrWarn);
  }, p.checkMs ?? CHECK_MS).unref();
  let check = checkOrWarn();

  return {
    stop: async () => {
      clearInterval(timer);
      await check;
      for (const worker of workers) shutDownTemporalWorker(worker);
      await runs;
    },
  };
}

/** Stops a Temporal worker, unless it has failed and stopped already. */
export function shutDownTemporalWorker(worker: Worker): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}
