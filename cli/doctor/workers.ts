import { Client, Connection } from '@temporalio/client';
import { readInstallation } from '../../db/installation/installation.ts';
import { listUnservedQueues, type QueueStats } from '../../rules/queue-stats.ts';
import { buildTemporalConnectionOptions } from '../../temporal/connection.ts';
import { InstallationNames } from '../../temporal/names.ts';
import { readQueueStats } from '../../temporal/queue-stats.ts';
import type { Deployment } from './deployment.ts';
import { type DoctorCheck, type DoctorFinding, failFinding, passFinding } from './report.ts';

const RESPONSE_MS = 4_000;

/**
 * Checks that each task queue of the installation has a worker. If no worker runs at all, the check passes, and its
 * message says how to start one.
 */
export const workersCheck: DoctorCheck = {
  name: 'workers',
  async run(deployment) {
    const stats = await fetchStats(deployment);
    if (stats === undefined) return [passFinding('not checked: Postgres or Temporal is unreachable')];
    return [judgeQueues(stats)];
  },
};

/**
 * Returns the state of the task queues. Undefined if Postgres or Temporal is unreachable or not set up. Other checks
 * report this problem.
 */
async function fetchStats({ settings, temporalAddress, postgres }: Deployment): Promise<QueueStats[] | undefined> {
  const inspected = await postgres();
  if (temporalAddress === undefined || !('db' in inspected)) return undefined;
  const installation = await readInstallation(inspected.db).catch(() => undefined);
  if (!installation) return undefined;
  const temporal = { ...settings.temporal, address: temporalAddress };
  const connection = Connection.lazy({ ...buildTemporalConnectionOptions(temporal), connectTimeout: RESPONSE_MS });
  const client = new Client({ connection, namespace: temporal.namespace });
  try {
    const target = { client, names: new InstallationNames(installation) };
    return await connection.withDeadline(Date.now() + RESPONSE_MS, () => readQueueStats(target));
  } catch {
    return undefined;
  } finally {
    await connection.close();
  }
}

function judgeQueues(stats: QueueStats[]): DoctorFinding {
  const unserved = listUnservedQueues(stats);
  if (unserved.length === 0) return passFinding('each task queue is served');
  if (unserved.length === stats.length)
    return passFinding('no worker runs: start one with npm start or npm run worker');
  const queues = unserved.join(', ');
  return failFinding(
    `no worker serves ${queues}: work waits there`,
    `start a worker with WORKER_QUEUES=${unserved.join(',')}, or without WORKER_QUEUES`,
  );
}
