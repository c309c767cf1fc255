import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { migrateToLatest } from '../../db/migrator.ts';
import type { Environment, Settings } from '../../rules/config.ts';
import { createDatabaseError } from '../database-error.ts';
import { startChild } from './child.ts';
import { requireTemporal } from './dependencies.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { type Home, readOrCreateSecret } from './home.ts';
import { killIfHung } from './hung-temporal.ts';
import type { SupervisedParts } from './parts.ts';
import { reuseOrChoosePort } from './ports.ts';
import { findTemporalBinary } from './temporal-binary.ts';
import { hasNamespace, startTemporalServer } from './temporal-server.ts';

/**
 * The maximum number of workers if WORKERS is not set. With one embedded Postgres and one Temporal server, more than
 * four workers are not faster than four.
 */
const WORKERS_MAX = 4;
/** The time limit of one check whether Temporal responds. On a very busy machine, a response takes a second. */
const TEMPORAL_CHECK_MS = 10_000;

/** The settings of `npm start`, and the values that its parts share while they start. */
export interface StartContext {
  readonly env: Environment;
  readonly settings: Settings;
  readonly home: Home;
  readonly parts: SupervisedParts;
  readonly stopping: AbortSignal;
  readonly writeLine: (line: string) => void;
}

/** Returns DATABASE_URL, or starts the embedded Postgres and returns its address. */
export async function startDatabase({ settings, home, parts, writeLine }: StartContext): Promise<string> {
  if (settings.database.url !== undefined) return settings.database.url;
  const password = readOrCreateSecret(home, 'postgres-password');
  const port = await reuseOrChoosePort(home.portsFile, 'postgres');
  const logFile = join(home.logs, 'postgres.log');
  const start = () => startEmbeddedPostgres({ dataFolder: home.postgresData, logFile, port, password });
  const postgres = await parts.add('postgres', { name: 'Postgres', start, writeLine });
  return postgres.url;
}

/**
 * Finds the program of Temporal's dev server before any part is started, because a download may take minutes. Undefined
 * if TEMPORAL_ADDRESS is set.
 */
export async function findTemporalProgram({
  env,
  settings,
  home,
  stopping,
  writeLine,
}: StartContext): Promise<string | undefined> {
  const { address, cliPath } = settings.temporal;
  if (address !== undefined) return undefined;
  return findTemporalBinary({ cliPath, binFolder: home.bin, env, progress: writeLine, signal: stopping });
}

/**
 * Returns the addresses of Temporal: TEMPORAL_ADDRESS, after a check that it responds, or the addresses of the dev
 * server that it starts from `binary`.
 */
export async function startTemporal({ settings, home, parts, writeLine }: StartContext, binary: string | undefined) {
  const { address, namespace } = settings.temporal;
  if (binary === undefined) {
    const external = { ...settings.temporal, address: address ?? '' };
    await requireTemporal(external);
    return { address: external.address, namespace, ui: null };
  }
  const options = {
    binary,
    namespace,
    databaseFile: home.temporalDatabase,
    logFile: join(home.logs, 'temporal.log'),
    port: await reuseOrChoosePort(home.portsFile, 'temporal'),
    uiPort: await reuseOrChoosePort(home.portsFile, 'temporal-ui'),
    httpPort: await reuseOrChoosePort(home.portsFile, 'temporal-http'),
    metricsPort: await reuseOrChoosePort(home.portsFile, 'temporal-metrics'),
  };
  const temporal = await parts.add('temporal', {
    name: 'Temporal',
    start: async () => {
      const server = await startTemporalServer(options);
      const responds = () => hasNamespace(server.address, namespace, TEMPORAL_CHECK_MS);
      void killIfHung(server, { responds, writeLine });
      return server;
    },
    writeLine,
  });
  return { address: temporal.address, namespace, ui: temporal.ui };
}

/**
 * Migrates the database to this release.
 * @throws StartError with a one-line message
 */
export async function migrate(databaseUrl: string): Promise<void> {
  await migrateToLatest(databaseUrl).catch((error) => {
    throw createDatabaseError(databaseUrl, error);
  });
}

export async function startApiChild({ home, parts, writeLine }: StartContext, env: Environment): Promise<void> {
  const logFile = join(home.logs, 'api.log');
  const options = { name: 'API', command: 'api', env, home, logFile, writeLine } as const;
  await parts.add('api', { name: 'API', start: () => startChild(options), writeLine });
}

/**
 * A setting of the C library glibc, which gives each thread a separate memory arena and rarely returns memory to the
 * system. With one arena for all threads, the peak memory of a worker in a campaign is about 40 MB lower at the same
 * speed. On systems without glibc, the setting has no effect.
 */
const WORKER_MALLOC = { MALLOC_ARENA_MAX: '1' };

/** Starts the workers concurrently. The metrics of worker n are at METRICS_PORT + n. */
export async function startWorkerChildren(context: StartContext, env: Environment): Promise<void> {
  const { settings, home, parts, writeLine } = context;
  const count = settings.workers ?? Math.min(availableParallelism(), WORKERS_MAX);
  const start = (number: number) => {
    const metrics = settings.metricsPort === undefined ? {} : { METRICS_PORT: String(settings.metricsPort + number) };
    const options = {
      name: `worker ${number}`,
      command: 'worker' as const,
      env: { ...WORKER_MALLOC, ...env, ...metrics },
      home,
      logFile: join(home.logs, `worker-${number}.log`),
      writeLine,
    };
    return parts.add('worker', { name: options.name, start: () => startChild(options), writeLine });
  };
  const started = await Promise.allSettled(Array.from({ length: count }, (_, index) => start(index + 1)));
  const failed = started.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}
