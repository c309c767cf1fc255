import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { startApi } from '../../api/http/server.ts';
import { connect, type Db } from '../../db/connection.ts';
import { parseConfig } from '../../domain/config.ts';
import { startWorker } from '../../worker/worker.ts';
import { buildProject, type CallOptions, type CallResult, type TestProject } from './api.ts';
import { createTestDatabase } from './database.ts';
import { createTestTemporal, type TestTemporal } from './services.ts';

/** Long enough for a busy machine; a condition that holds is seen at once. */
const UNTIL_TIMEOUT_MS = 30_000;
const POLL_MS = 25;

export interface TestService {
  baseUrl: string;
  db: Db;
  temporal: TestTemporal;
  one: TestProject;
  two: TestProject;
  /** A real HTTP request, as `one` unless another key is given. */
  call(method: string, path: string, options?: CallOptions): Promise<CallResult>;
  /** Ends the worker, or starts it again: what happens meanwhile has to wait in Temporal. */
  stopWorker(): Promise<void>;
  startWorker(): Promise<void>;
  close(): Promise<void>;
}

/** The whole service in this process, on a database and a Temporal namespace of the test file's own. */
export async function startTestService(env: Record<string, string> = {}): Promise<TestService> {
  const [database, temporal] = await Promise.all([createTestDatabase(), createTestTemporal()]);
  const config = parseConfig({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    SECRET_KEY: 'the secret key of the tests',
    RATE_LIMIT_PER_MINUTE: '0',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    PORT: '0',
    ...env,
  });
  const log = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
  const { db } = connect({ connectionString: database.url, max: 4, applicationName: 'test', onError: () => {} });
  const one = await buildProject(db, 'One');
  const two = await buildProject(db, 'Two');
  const api = await startApi(config, { log });
  const baseUrl = `http://127.0.0.1:${api.port}`;
  const bundle = { codePath: temporal.workflowBundle };
  const newWorker = () => startWorker(config, { log, workflowBundle: bundle, onFatal: (error) => log.error(error) });
  let worker: Awaited<ReturnType<typeof newWorker>> | undefined = await newWorker();

  async function stopWorker(): Promise<void> {
    await worker?.close();
    worker = undefined;
  }
  return {
    baseUrl,
    db,
    temporal,
    one,
    two,
    call: (method, path, options) => call(baseUrl, { key: one.secretKey, ...options }, method, path),
    stopWorker,
    startWorker: async () => {
      worker = await newWorker();
    },
    close: async () => {
      await stopWorker();
      await api.close();
      await db.destroy();
      await database.drop();
    },
  };
}

async function call(baseUrl: string, options: CallOptions, method: string, path: string): Promise<CallResult> {
  const { key, body } = options;
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      ...(key && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') && text.length > 0;
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/** Waits until `look` returns something; fails with what it saw last. */
export async function until<T>(look: () => Promise<T | undefined | null | false>, what = 'the condition'): Promise<T> {
  const deadline = Date.now() + UNTIL_TIMEOUT_MS;
  while (true) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > deadline) throw new Error(`${what} did not come within ${UNTIL_TIMEOUT_MS / 1_000} s`);
    await sleep(POLL_MS);
  }
}
