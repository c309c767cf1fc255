import { mkdtempSync, rmSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { sql } from 'kysely';
import { startEmbeddedPostgres } from '../cli/start/embedded-postgres.ts';
import { findFreePort } from '../cli/start/ports.ts';
import { findTemporalBinary } from '../cli/start/temporal-binary.ts';
import { startTemporalServer } from '../cli/start/temporal-server.ts';
import { connect, type Db } from '../db/connection.ts';
import { readInstallation } from '../db/installation/installation.ts';
import { migrateToLatest } from '../db/migrator.ts';
import { insertProject } from '../db/projects/accounts.ts';
import { insertSegment } from '../db/segments/segments.ts';
import { inTransaction } from '../db/transaction.ts';
import { generatePublicKey } from '../rules/access/api-keys.ts';
import { parseCondition } from '../rules/filters/filters.ts';
import { PERIODIC_KINDS } from '../rules/periodic-work.ts';
import { InstallationNames } from '../temporal/names.ts';
import { type HostProcess, startHostProcess } from '../test/support/host-process.ts';
import { readCpuMs, readMachineCpuMs, readPostgresCpuMs } from '../test/support/process-cpu.ts';
import { until } from '../test/support/until.ts';
import type { RoundResult } from '../workflows/periodic-round.ts';

/**
 * Measures one round that computes the tracked segments of many projects, with one worker and with several. A proxy
 * delays each statement of the workers, like a network or a busy server does. Without this delay, the number of cores
 * of this machine would limit the result.
 */
const { values } = parseArgs({
  options: {
    projects: { type: 'string', default: '500' },
    segments: { type: 'string', default: '4' },
    workers: { type: 'string', default: '4' },
    'latency-ms': { type: 'string', default: '20' },
  },
});
const projects = Number(values.projects);
const segments = Number(values.segments);
const workers = Number(values.workers);
const latencyMs = Number(values['latency-ms']);

const home = mkdtempSync(join(tmpdir(), 'tidings-bench-'));
const postgres = await startEmbeddedPostgres({
  dataFolder: join(home, 'postgres', 'data'),
  logFile: join(home, 'postgres.log'),
  port: await findFreePort(),
  password: 'bench',
});
const temporal = await startTemporalServer({
  binary: await findTemporalBinary({
    cliPath: process.env.TEMPORAL_CLI_PATH,
    binFolder: join(home, 'bin'),
    env: process.env,
    progress: (line) => console.log(line),
    signal: new AbortController().signal,
  }),
  databaseFile: undefined,
  logFile: join(home, 'temporal.log'),
  namespace: 'default',
  port: await findFreePort(),
  uiPort: await findFreePort(),
  httpPort: await findFreePort(),
  metricsPort: await findFreePort(),
});
const slow = await startSlowPostgres(postgres.url);
await migrateToLatest(postgres.url);
const { db } = connect({ connectionString: postgres.url, max: 4, applicationName: 'bench', onError: () => {} });
const connection = await Connection.connect({ address: temporal.address });
const client = new Client({ connection, namespace: 'default' });
const hosts: HostProcess[] = [];

try {
  const names = new InstallationNames(await readInstallation(db));
  await buildSegments(db);
  await startWorkers(1);
  for (const kind of PERIODIC_KINDS) await client.schedule.getHandle(names.schedule(kind)).pause();
  const one = await measureRound(names);
  await startWorkers(workers);
  const several = await measureRound(names);
  console.table({
    '1 worker': one,
    [`${workers} workers`]: several,
    ratio: { seconds: Math.round((several.seconds / one.seconds) * 1000) / 1000 },
  });
} finally {
  for (const host of hosts) await host.stop();
  await connection.close();
  await db.destroy();
  await slow.close();
  await temporal.stop();
  await postgres.stop();
  rmSync(home, { recursive: true, force: true });
}

/** Creates projects with tracked segments, and without contacts. */
async function buildSegments(on: Db): Promise<void> {
  for (let project = 0; project < projects; project += 1) {
    const projectId = await insertProject(on, { name: `Bench ${project}`, publicKey: generatePublicKey() });
    for (let segment = 0; segment < segments; segment += 1) {
      const conditions = [{ field: 'data.tag', operator: 'equals', value: `tag-${segment}` }];
      const condition = parseCondition({ operator: 'AND', conditions });
      const fresh = { projectId, name: `Segment ${segment}`, description: null, condition };
      await inTransaction(on, (trx) => insertSegment(trx, { ...fresh, type: 'DYNAMIC', trackMembership: true }));
    }
  }
}

/** Starts workers until `count` of them run, and waits until each of them polls its Temporal task queue. */
async function startWorkers(count: number): Promise<void> {
  const names = new InstallationNames(await readInstallation(db));
  while (hosts.length < count) {
    const env = {
      DATABASE_URL: slow.url,
      TEMPORAL_ADDRESS: temporal.address,
      SECRET_KEY: 'the secret key of the bench',
      LOG_LEVEL: 'info',
    };
    hosts.push(await startHostProcess('worker', env, (output) => output.includes('takes tasks')));
  }
  const pollers = async () => {
    const { pollers } = await client.workflowService.describeTaskQueue({
      namespace: 'default',
      taskQueue: { name: names.taskQueue('periodic') },
      taskQueueType: 2,
    });
    return pollers?.length === count;
  };
  await until(pollers, `${count} workers at the queue`, { timeoutMs: 60_000 });
}

/**
 * Returns the CPU time in seconds that each group of processes has used until now. `others` is the rest of the
 * machine's CPU time, of processes that the bench has not started.
 */
function readCpu(): Record<'workers' | 'postgres' | 'temporal' | 'bench' | 'others', number> {
  const seconds = (ms: number) => Math.round(ms / 100) / 10;
  const [ofWorkers, ofPostgres, ofTemporal, ofBench] = [
    readCpuMs(hosts.map(({ pid }) => pid)),
    readPostgresCpuMs(postgres.identity.pid),
    readCpuMs([temporal.identity.pid]),
    readCpuMs([process.pid]),
  ];
  return {
    workers: seconds(ofWorkers),
    postgres: seconds(ofPostgres),
    temporal: seconds(ofTemporal),
    bench: seconds(ofBench),
    others: seconds(readMachineCpuMs() - ofWorkers - ofPostgres - ofTemporal - ofBench),
  };
}

/** Measures a round over all segments: its seconds, and the CPU time used meanwhile. */
async function measureRound(names: InstallationNames): Promise<{ seconds: number } & ReturnType<typeof readCpu>> {
  const before = readCpu();
  const startedMs = performance.now();
  const result: RoundResult = await client.workflow.execute('segmentsRound', {
    taskQueue: names.taskQueue('workflows'),
    workflowId: names.schedule(`bench-${hosts.length}`),
    // The deadline is later than the end of a round with one worker. A scheduled round ends after 4.5 minutes.
    args: [{ deadlineMs: Date.now() + 3_600_000 }],
  });
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
  const after = readCpu();
  const { rows } = await sql<{ computed: number }>`
    SELECT count(*) AS computed FROM segments WHERE computed_at > now() - make_interval(secs => ${seconds + 1})
  `.execute(db);
  if (result.done !== projects || rows[0]?.computed !== projects * segments)
    throw new Error(
      `the round did not compute all segments: ${JSON.stringify({ result, computed: rows[0]?.computed })}`,
    );
  const used = (name: keyof typeof after) => Math.round((after[name] - before[name]) * 10) / 10;
  return {
    seconds,
    workers: used('workers'),
    postgres: used('postgres'),
    temporal: used('temporal'),
    bench: used('bench'),
    others: used('others'),
  };
}

/** Starts a proxy to Postgres that delays each message of a client by some milliseconds. */
async function startSlowPostgres(target: string): Promise<{ url: string; close(): Promise<void> }> {
  const { hostname, port } = new URL(target);
  const server = net.createServer((socket) => {
    const upstream = net.connect(Number(port), hostname);
    socket.on('data', (chunk) => setTimeout(() => upstream.write(chunk), latencyMs));
    upstream.pipe(socket);
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      one.on('error', () => one.destroy());
      one.on('close', () => other.destroy());
    }
    socket.setNoDelay(true);
    upstream.setNoDelay(true);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = Object.assign(new URL(target), { host: `127.0.0.1:${(server.address() as AddressInfo).port}` }).href;
  return { url, close: () => new Promise((resolve) => void server.close(() => resolve())) };
}
