import type { OpenAPIHono } from '@hono/zod-openapi';
import { pino } from 'pino';
import { EngagementBatcher } from '../../api/accept/engagement-batcher.ts';
import { createApp } from '../../api/http/app.ts';
import type { Deps } from '../../api/http/deps.ts';
import type { AppEnv } from '../../api/http/env.ts';
import { createKeyCache } from '../../api/http/key-cache.ts';
import { createRateLimits } from '../../api/http/rate-limits.ts';
import { createRequestLog } from '../../api/http/request-log.ts';
import { openBucket } from '../../channels/assets/bucket.ts';
import { createCompute } from '../../compute/compute.ts';
import { connect, type Db } from '../../db/connection.ts';
import { readInstallation } from '../../db/installation/installation.ts';
import { createBacklogReader } from '../../db/outbox/outbox-backlog.ts';
import { insertProject } from '../../db/projects/accounts.ts';
import { insertApiKey } from '../../db/projects/api-keys.ts';
import { generatePublicKey, generateSecretKey, type KeyMode } from '../../rules/access/api-keys.ts';
import { isLoopbackHost } from '../../rules/access/loopback.ts';
import { GRANTABLE_SCOPES } from '../../rules/access/scopes.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { parseConfig } from '../../rules/config.ts';
import type { OutboxRow, QueuedRow } from '../../rules/outbox.ts';
import { InstallationNames } from '../../temporal/names.ts';
import { createTestDatabase } from './database.ts';
import { type CallOptions, type CallResult, readResponse, toRequestInit } from './http.ts';

export type { CallOptions, CallResult } from './http.ts';

/** A project, and a key of each type for it. */
export interface TestProject {
  id: string;
  publicKey: string;
  /** Live key with every grantable scope. */
  secretKey: string;
  testKey: string;
  /** Live key without scopes. */
  bareKey: string;
}

export interface TestApi {
  app: OpenAPIHono<AppEnv>;
  deps: Deps;
  db: Db;
  /** Two projects, so that each test can check what one project sees of the other. */
  one: TestProject;
  two: TestProject;
  /** The outbox rows that routes would have announced to the workers, in order. */
  dispatched: OutboxRow[];
  /**
   * Sends a JSON request with the key of `one`, with another key, or without a key (`key: null`), and parses the JSON
   * response.
   */
  call(method: string, path: string, options?: CallOptions): Promise<CallResult>;
  close(): Promise<void>;
}

/**
 * Starts the API in this process, with a new database, without HTTP, workers and Temporal. Outbox rows are stored, and
 * `dispatched` records the notifications of workers.
 */
export async function startTestApi(env: Record<string, string> = {}): Promise<TestApi> {
  const database = await createTestDatabase();
  const config = parseConfig({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    SECRET_KEY: 'the secret key of the tests',
    RATE_LIMIT_PER_MINUTE: '0',
    ...env,
  });
  const log = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
  const { db, pool } = connect({
    connectionString: database.url,
    max: 8,
    applicationName: 'test-api',
    onError: () => {},
  });
  const dispatched: OutboxRow[] = [];
  const outbox = { wake: (rows: QueuedRow[]) => void dispatched.push(...(rows as OutboxRow[])) };
  const lifecycle = {
    names: new InstallationNames(await readInstallation(db)),
    ping: async () => {},
    findRunId: async () => null,
    readQueueStats: async () => [],
  };
  const keys = createKeyCache({ db, databaseUrl: database.url, log });
  const rateKey = deriveKey(config.secretKey, 'rate-limit');
  const limits = createRateLimits({
    db,
    perMinute: config.rateLimitPerMinute,
    publicPerMinute: config.publicRateLimitPerMinute,
    key: rateKey,
  });
  const lenient = isLoopbackHost(new URL(config.publicUrl).hostname);
  const engagements = new EngagementBatcher({ db, outbox, log, lenient });
  const requests = createRequestLog({ db, log });
  const compute = createCompute({ cpuMsPerSecond: config.projectCpuMsPerSecond });
  const bucket = config.assetsBucket && openBucket(config.assetsBucket);
  const deps: Deps = {
    config,
    db,
    reads: db,
    pool,
    compute,
    loop: { runAs: (_, work) => work(), noteResumed: () => {} },
    bucket,
    outbox,
    lifecycle,
    log,
    keys,
    limits,
    backlog: createBacklogReader(db),
    engagements,
    requests,
  };
  const app = createApp(deps);
  const one = await buildProject(db, 'One');
  const two = await buildProject(db, 'Two');

  return {
    app,
    deps,
    db,
    one,
    two,
    dispatched,
    call: async (method, path, { key = one.secretKey, ...options } = {}) =>
      readResponse(await app.request(path, toRequestInit(method, { key, ...options }))),
    async close() {
      await engagements.close();
      await requests.close();
      limits.close();
      await keys.close();
      await compute.close();
      await bucket?.close();
      await db.destroy();
      await database.drop();
    },
  };
}

/** Builds a project with a public key and three secret keys. */
export async function buildProject(db: Db, name: string): Promise<TestProject> {
  const publicKey = generatePublicKey();
  const id = await insertProject(db, { name, publicKey });
  const buildKey = async (mode: KeyMode, scopes: readonly string[]) => {
    const { key, hash, prefix } = generateSecretKey(mode);
    await insertApiKey(db, {
      projectId: id,
      name: 'test',
      hash,
      prefix,
      scopes,
      mode,
      createdBy: null,
      expiresAt: null,
    });
    return key;
  };
  return {
    id,
    publicKey: publicKey.key,
    secretKey: await buildKey('live', GRANTABLE_SCOPES),
    testKey: await buildKey('test', GRANTABLE_SCOPES),
    bareKey: await buildKey('live', []),
  };
}

/** Builds another secret key of a project, with these scopes. */
export async function buildApiKey(
  db: Db,
  projectId: string,
  scopes: readonly string[],
  mode: KeyMode = 'live',
): Promise<string> {
  const { key, hash, prefix } = generateSecretKey(mode);
  await insertApiKey(db, { projectId, name: 'test', hash, prefix, scopes, mode, createdBy: null, expiresAt: null });
  return key;
}
