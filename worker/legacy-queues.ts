import type { Worker } from '@temporalio/worker';
import type { Logger } from 'pino';
import { describeFailure } from '../rules/failure-text.ts';
import type { Lifecycle } from '../temporal/lifecycle.ts';

/** Tells all workers when the queues of the earlier release end. */
export interface LegacyStore {
  /** Whether a worker has found the queues empty, after the last instant at which the earlier release fills them. */
  isClosed(): Promise<boolean>;
  /** Notes that the queues are empty. Does nothing before that instant. */
  close(): Promise<void>;
}

/** How often the queues are counted: one count of Temporal's and one row of Postgres a worker. */
const CHECK_MS = 60_000;
/** Temporal lists a workflow some time after its start, so that one count of none proves little. */
const EMPTY_CHECKS = 2;

/**
 * Serves the task queues of the release before installations had names, until no workflow is open on them. Deletes that
 * release's schedules too, again at each check: a process of it that starts during the upgrade makes them again.
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

  async function look(): Promise<void> {
    await p.lifecycle.deleteLegacySchedules();
    emptyChecks = (await p.lifecycle.countLegacyWorkflows()) === 0 ? emptyChecks + 1 : 0;
    if (emptyChecks >= EMPTY_CHECKS) await p.store.close();
    if (!(await p.store.isClosed())) return;
    clearInterval(timer);
    for (const worker of workers) shutDown(worker);
    p.log.info('the task queues of the earlier release are empty and are served no more');
  }
  const lookQuietly = (): Promise<void> =>
    look().catch((error) =>
      p.log.warn({ reason: describeFailure(error) }, 'the task queues of the earlier release were not checked'),
    );
  const timer = setInterval(() => {
    check = check.then(lookQuietly);
  }, p.checkMs ?? CHECK_MS).unref();
  let check = lookQuietly();

  return {
    stop: async () => {
      clearInterval(timer);
      await check;
      for (const worker of workers) shutDown(worker);
      await runs;
    },
  };
}

/** Stops a worker that runs. A worker that failed has stopped already. */
export function shutDown(worker: Worker): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}
