import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../cli/start/embedded-postgres.ts';
import { freePort } from '../../cli/start/ports.ts';
import { findTemporalBinary } from '../../cli/start/temporal-binary.ts';
import { startTemporalServer, type TemporalServer } from '../../cli/start/temporal-server.ts';
import { migrateToLatest } from '../../db/migrator.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Address of the run's Postgres; each test file makes its own database there. */
    postgresUrl: string;
    /** Of the run's Temporal; each test file makes its own namespace there. */
    temporalAddress: string;
    /** Its metrics, in Prometheus' text format. */
    temporalMetrics: string;
    /** The prebuilt workflows, for `workflowBundle: { codePath }`. */
    workflowBundle: string;
  }
}

const ROOT = join(import.meta.dirname, '..', '..');

/** A database with all migrations, which those of the tests are copies of. */
export const TEMPLATE_DATABASE = 'tidings_template';

/** One Postgres and one Temporal for the whole run, in a temporary home that is gone afterwards. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  build();
  const home = mkdtempSync(join(tmpdir(), 'tidings-test-'));
  const metricsPort = await freePort();
  const [postgres, temporal] = await allOrNone(startPostgres(home), startTemporal(home, metricsPort));
  project.provide('postgresUrl', postgres.url);
  project.provide('temporalAddress', temporal.address);
  project.provide('temporalMetrics', `http://127.0.0.1:${metricsPort}/metrics`);
  project.provide('workflowBundle', join(ROOT, 'dist', 'workflow-bundle.js'));
  return async () => {
    await Promise.all([postgres.stop(), temporal.stop()]);
    rmSync(home, { recursive: true, force: true });
  };
}

/** Both servers; where one does not start, the other is stopped, so that a run that fails leaves nothing behind. */
async function allOrNone<A extends Stoppable, B extends Stoppable>(a: Promise<A>, b: Promise<B>): Promise<[A, B]> {
  const started = await Promise.allSettled([a, b]);
  if (started.some(({ status }) => status === 'rejected'))
    await Promise.all(started.map((server) => server.status === 'fulfilled' && server.value.stop()));
  return Promise.all([a, b]);
}

interface Stoppable {
  stop(): Promise<unknown>;
}

/** Does nothing when nothing changed. What needs no build is still worth testing when it fails. */
function build(): void {
  const result = spawnSync(process.execPath, [join(ROOT, 'build.mjs')], { stdio: 'inherit' });
  if (result.status !== 0)
    console.error('The build failed: tests of the built service and of workflows will fail too.');
}

async function startPostgres(home: string): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({
    dataFolder: join(home, 'postgres', 'data'),
    logFile: join(home, 'postgres.log'),
    port: await freePort(),
    password: 'test',
    // Nothing of a test run outlives it.
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', shared_buffers: '256MB' },
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
  return startTemporalServer({
    binary,
    databaseFile: undefined,
    logFile: join(home, 'temporal.log'),
    namespace: 'default',
    port: await freePort(),
    uiPort: await freePort(),
    httpPort: await freePort(),
    metricsPort,
  });
}
