import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../cli/start/embedded-postgres.ts';
import { findFreePort } from '../../cli/start/ports.ts';
import { findTemporalBinary } from '../../cli/start/temporal-binary.ts';
import { startTemporalServer, type TemporalServer } from '../../cli/start/temporal-server.ts';
import { migrateToLatest } from '../../db/migrator.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Address of the run's Postgres. Each test file creates its own database there. */
    postgresUrl: string;
    /** Address of the run's Temporal. Each test file creates its own namespace there. */
    temporalAddress: string;
    /** Address of Temporal's metrics, in the text format of Prometheus. */
    temporalMetrics: string;
    /** Folder for screenshots of failures. It stays after the run. */
    pictures: string;
    /** Path of the prebuilt workflow bundle, for `workflowBundle: { codePath }`. */
    workflowBundle: string;
  }
}

const ROOT = join(import.meta.dirname, '..', '..');

/** The name of a database with all migrations. The databases of the tests are copies of it. */
export const TEMPLATE_DATABASE = 'tidings_template';

/** Memory that the databases of a run may use. They use less than 1 GB. */
const MEMORY_BYTES = 2 * 1024 ** 3;
const MEMORY_FOLDER = '/dev/shm';

/**
 * Starts one Postgres and one Temporal for the whole run. All temporary files are in the run's folders, which are
 * deleted at the end, however the run ends.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  exitWithParent();
  buildService();
  project.provide('pictures', join(tmpdir(), 'tidings-screens'));
  const home = createFolder(tmpdir());
  const databases = createFolder(hasEnoughSpace(MEMORY_FOLDER) ? MEMORY_FOLDER : home);
  startReaper([home, databases]);
  process.env.TMPDIR = join(home, 'tmp');
  mkdirSync(process.env.TMPDIR, { mode: 0o711 });
  const metricsPort = await findFreePort();
  const [postgres, temporal] = await startBothOrNone(startPostgres(databases), startTemporal(home, metricsPort));
  project.provide('postgresUrl', postgres.url);
  project.provide('temporalAddress', temporal.address);
  project.provide('temporalMetrics', `http://127.0.0.1:${metricsPort}/metrics`);
  project.provide('workflowBundle', join(ROOT, 'dist', 'workflow-bundle.js'));
  return async () => {
    await Promise.all([postgres.stop(), temporal.stop()]);
    for (const folder of [home, databases]) rmSync(folder, { recursive: true, force: true });
  };
}

/** Creates a folder that other users can enter, because Postgres and Postfix run as other users. */
function createFolder(parent: string): string {
  const folder = mkdtempSync(join(parent, 'tidings-test-'));
  chmodSync(folder, 0o711);
  return folder;
}

/**
 * Tells whether a file system in memory has enough space for the databases. There, copying the template takes about
 * 20 % of the processor time that it takes on a disk.
 */
function hasEnoughSpace(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= MEMORY_BYTES && process.availableMemory() >= 2 * MEMORY_BYTES;
  } catch {
    return false; // Only Linux has this folder.
  }
}

/** Ends this process if its parent process `test.mjs` is killed. */
function exitWithParent(): void {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel?.unref();
}

/**
 * Starts the process that cleans up after this process has ended. It waits for the end of a pipe, which the system
 * closes then.
 */
function startReaper(folders: string[]): void {
  const reaper = spawn(process.execPath, [join(import.meta.dirname, 'reaper.mjs'), ...folders], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  reaper.unref();
  (reaper.stdin as Socket).unref();
}

/**
 * Waits for the start of both servers. If one does not start, the other is stopped, so that a failed run leaves nothing
 * behind.
 */
async function startBothOrNone<A extends Stoppable, B extends Stoppable>(
  a: Promise<A>,
  b: Promise<B>,
): Promise<[A, B]> {
  const started = await Promise.allSettled([a, b]);
  if (started.some(({ status }) => status === 'rejected'))
    await Promise.all(started.map((server) => server.status === 'fulfilled' && server.value.stop()));
  return Promise.all([a, b]);
}

interface Stoppable {
  stop(): Promise<unknown>;
}

/** Builds the service if its source changed. If the build fails, tests that need no build still run. */
function buildService(): void {
  const result = spawnSync(process.execPath, [join(ROOT, 'build', 'build.mjs')], { stdio: 'inherit' });
  if (result.status !== 0)
    console.error('The build failed: tests of the built service and of workflows will fail too.');
}

async function startPostgres(folder: string): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({
    dataFolder: join(folder, 'postgres', 'data'),
    logFile: join(folder, 'postgres.log'),
    port: await findFreePort(),
    password: 'test',
    // The run deletes this database at its end, so no data needs to survive a crash.
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      shared_buffers: '256MB',
      max_wal_size: '512MB',
      min_wal_size: '128MB',
    },
  });
  const admin = new pg.Client(postgres.url);
  await admin.connect();
  await admin.query(`CREATE DATABASE ${TEMPLATE_DATABASE}`);
  await admin.end();
  await migrateToLatest(Object.assign(new URL(postgres.url), { pathname: `/${TEMPLATE_DATABASE}` }).href);
  return postgres;
}

async function startTemporal(home: string, metricsPort: number): Promise<TemporalServer> {
  const binary = await findTemporalBinary({
    cliPath: process.env.TEMPORAL_CLI_PATH,
    binFolder: join(home, 'bin'),
    env: process.env,
    progress: (line) => console.log(line),
    signal: new AbortController().signal,
  });
  // Services that tests start use this program, so they neither download nor build Temporal.
  process.env.TEMPORAL_CLI_PATH = binary;
  return startTemporalServer({
    binary,
    databaseFile: undefined,
    logFile: join(home, 'temporal.log'),
    namespace: 'default',
    port: await findFreePort(),
    uiPort: await findFreePort(),
    httpPort: await findFreePort(),
    metricsPort,
  });
}
