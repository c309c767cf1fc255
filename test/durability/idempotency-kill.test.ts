import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { findFreePort } from '../../cli/start/ports.ts';
import { TEST_SECRET_KEY } from '../build/senders.ts';
import { buildProject, type TestProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type HostProcess, startHostProcess } from '../support/host-process.ts';
import { createTestTemporal } from '../support/services.ts';

let database: TestDatabase;
let temporal: Awaited<ReturnType<typeof createTestTemporal>>;
let project: TestProject;
let api: HostProcess | undefined;
let baseUrl: string;

beforeAll(async () => {
  [database, temporal] = await Promise.all([createTestDatabase(), createTestTemporal()]);
  project = await buildProject(database.db, 'Kill');
});
afterEach(() => api?.kill());
afterAll(() => database?.drop());

async function startApi(): Promise<HostProcess> {
  const port = await findFreePort();
  baseUrl = `http://127.0.0.1:${port}`;
  const env = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    SECRET_KEY: TEST_SECRET_KEY,
    RATE_LIMIT_PER_MINUTE: '0',
    PORT: String(port),
  };
  return startHostProcess('api', env, () =>
    fetch(`${baseUrl}/health/live`).then(
      (r) => r.ok,
      () => false,
    ),
  );
}

interface ParsedResponse {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: responses of two shapes
  body: any;
}

/**
 * Sends twenty requests with one key on separate sockets. A result is undefined if the API died before its response.
 */
function sendTwentyRequests(key: string, name: string): Promise<(ParsedResponse | undefined)[]> {
  const ask = async (): Promise<ParsedResponse | undefined> => {
    try {
      const response = await fetch(`${baseUrl}/v1/topics`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${project.secretKey}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify({ name }),
      });
      return { status: response.status, body: await response.json() };
    } catch {
      return undefined;
    }
  };
  return Promise.all(Array.from({ length: 20 }, ask));
}

it('twenty requests with one key take effect once, although the API is killed meanwhile', async () => {
  for (const [round, delayMs] of [0, 5, 10, 20].entries()) {
    api = await startApi();
    const key = uuidv7();
    const name = `Round ${round}`;
    const firstResponses = sendTwentyRequests(key, name);
    await sleep(delayMs);
    await api.kill();
    const before = await firstResponses;
    api = await startApi();
    const after = await sendTwentyRequests(key, name);
    const rows = await database.db.selectFrom('topics').select('id').where('name', '=', name).execute();
    expect(rows, name).toHaveLength(1);
    const responses = [...before, ...after].filter((response) => response !== undefined);
    expect(new Set(responses.map(({ status }) => status)), name).toEqual(
      new Set([...(responses.some(({ status }) => status === 201) ? [201] : []), 409]),
    );
    const created = responses.map(({ status, body }) =>
      status === 201 ? body.id : body.error.details.originalResponse.id,
    );
    expect(new Set(created), name).toEqual(new Set([rows[0]?.id]));
    expect(responses.filter(({ status }) => status === 201).length, name).toBeLessThanOrEqual(1);
    await api.kill();
  }
});
