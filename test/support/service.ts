import { type Logger, pino } from 'pino';
import { startApi } from '../../api/http/server.ts';
import { connect, type Db } from '../../db/connection.ts';
import { readInstallation } from '../../db/installation/installation.ts';
import { parseConfig } from '../../rules/config.ts';
import { InstallationNames } from '../../temporal/names.ts';
import { startWorker } from '../../worker/worker.ts';
import { buildProject, type TestProject } from './api.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { startWorkerHost } from './host-process.ts';
import { type CallOptions, type CallResult, callHttp } from './http.ts';
import { createTestTemporal, type TestTemporal } from './services.ts';

export interface TestService {
  baseUrl: string;
  db: Db;
  temporal: TestTemporal;
  /** The names that the service uses in Temporal. */
  names: InstallationNames;
  one: TestProject;
  two: TestProject;
  /** Warnings and errors of the log, unless the test has a log of its own. They explain a response of 500 or more. */
  warningLines: string[];
  /** Makes a real HTTP request, by default with the key of `one`. */
  call(method: string, path: string, options?: CallOptions): Promise<CallResult>;
  /** Stops the worker, or starts it again. While it is stopped, work waits in Temporal. */
  stopWorker(): Promise<void>;
  startWorker(): Promise<void>;
  close(): Promise<void>;
}

export interface TestServiceOptions {
  /** A database to use. The service does not delete it. */
  database?: TestDatabase;
  /** The namespace of another service, if both services use the same one. */
  temporal?: TestTemporal;
  /** Runs the worker as a separate process, because Temporal's SDK allows only one service in a process. */
  workerProcess?: boolean;
  /**
   * Makes the service an upgraded installation: rows from before this time have workflow names of the earlier release.
   */
  legacyBefore?: Date;
  /** The interval at which the workers check the task queues of the earlier release. */
  legacyCheckMs?: number;
  /** The log of API and worker. By default, nothing is printed unless TEST_LOG_LEVEL is set. */
  log?: Logger;
}

/** Starts the whole service in this process, with a new database and Temporal namespace for the test file. */
export async function startTestService(
  env: Record<string, string> = {},
  options: TestServiceOptions = {},
): Promise<TestService> {
  const [database, temporal] = await Promise.all([
    options.database ?? createTestDatabase(),
    options.temporal ?? createTestTemporal(),
  ]);
  if (options.legacyBefore)
    await database.db.updateTable('installation').set({ legacy_before: options.legacyBefore }).execute();
  const settings = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    SECRET_KEY: 'the secret key of the tests',
    RATE_LIMIT_PER_MINUTE: '0',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    PORT: '0',
    ...env,
  };
  const config = parseConfig(settings);
  const warningLines: string[] = [];
  const { log = createTestLog(warningLines) } = options;
  const { db } = connect({ connectionString: database.url, max: 4, applicationName: 'test', onError: () => {} });
  const one = await buildProject(db, 'One');
  const two = await buildProject(db, 'Two');
  const api = await startApi(config, { log });
  const baseUrl = `http://127.0.0.1:${api.port}`;
  const bundle = { codePath: temporal.workflowBundle };
  const runWorker = async () => {
    if (options.workerProcess) return startWorkerHost({ database, temporal, env: settings });
    const started = await startWorker(config, {
      log,
      workflowBundle: bundle,
      legacyCheckMs: options.legacyCheckMs,
      onFatal: (error) => log.error(error),
    });
    return { stop: () => started.close() };
  };
  let worker: Awaited<ReturnType<typeof runWorker>> | undefined = await runWorker();

  async function stopWorker(): Promise<void> {
    await worker?.stop();
    worker = undefined;
  }
  return {
    baseUrl,
    db,
    temporal,
    names: new InstallationNames(await readInstallation(db)),
    one,
    two,
    warningLines,
    call: (method, path, { key = one.secretKey, ...options } = {}) =>
      callHttp(baseUrl, method, path, { key, ...options }),
    stopWorker,
    startWorker: async () => {
      worker = await runWorker();
    },
    close: async () => {
      await stopWorker();
      await api.close();
      await db.destroy();
      if (!options.database) await database.drop();
    },
  };
}

/**
 * Creates a log that adds its warnings and errors to `lines`. If TEST_LOG_LEVEL is set, the log prints all lines of this
 * level and above instead.
 */
function createTestLog(lines: string[]): Logger {
  const level = process.env.TEST_LOG_LEVEL;
  return level ? pino({ level }) : pino({ level: 'warn' }, { write: (line) => void lines.push(line.trimEnd()) });
}
