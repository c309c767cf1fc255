import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApp } from '../../api/http/app.ts';
import { type RunningApi, startApi } from '../../api/http/server.ts';
import { connect } from '../../db/connection.ts';
import { buildDomain, TEST_SECRET_KEY } from '../build/senders.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { until } from '../support/until.ts';

let api: TestApi;
let running: RunningApi;

beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id });
  await buildDomain(api.db, { projectId: api.two.id, domain: 'two.example.com' });
  const config = { ...api.deps.config, port: 0, secretKey: TEST_SECRET_KEY };
  running = await startApi(config, { log: pino({ level: 'silent' }) });
});
afterAll(async () => {
  await running?.close();
  await api?.close();
});

const PATHS = ['/activity', '/activity/stats', '/events', '/events/stats', '/analytics/timeseries'];
const createHeaders = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });

it('twenty slow dashboard requests of one project delay no email', async () => {
  const base = `http://127.0.0.1:${running.port}`;
  const waiting: Promise<number>[] = [];
  const send = async (key: string, from: string) => {
    const body = JSON.stringify({ to: 'ann@example.com', from, subject: 'Hi', body: '<p>Hi</p>' });
    return (await fetch(`${base}/v1/send`, { method: 'POST', headers: createHeaders(key), body })).status;
  };
  await api.db.transaction().execute(async (trx) => {
    await sql`LOCK TABLE events IN ACCESS EXCLUSIVE MODE`.execute(trx);
    for (let n = 0; n < 20; n += 1) {
      const path = PATHS[n % PATHS.length];
      waiting.push(
        fetch(base + path, { headers: createHeaders(api.one.secretKey) }).then((response) => response.status),
      );
    }
    await until(async () => {
      const { rows } = await sql`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(api.db);
      return rows.length >= 4;
    }, 'the dashboards to wait');
    expect(await send(api.one.secretKey, 'hello@shop.example.com')).toBe(200);
    expect(await send(api.two.secretKey, 'hello@two.example.com')).toBe(200);
  });
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => 200));
});

it('a list that takes too long returns 503 with a suggestion', async () => {
  const { db: reads } = connect({
    connectionString: api.deps.config.database.url,
    max: 1,
    applicationName: 'test',
    onError: () => {},
    statementTimeoutMs: 100,
  });
  const app = createApp({ ...api.deps, reads });
  await api.db.transaction().execute(async (trx) => {
    await sql`LOCK TABLE events IN ACCESS EXCLUSIVE MODE`.execute(trx);
    const response = await app.request('/activity', { headers: createHeaders(api.one.secretKey) });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
    const { error } = (await response.json()) as { error: { code: string; suggestion: string } };
    expect(error.code).toBe('SERVICE_UNAVAILABLE');
    expect(error.suggestion).toContain('a shorter time span');
  });
  await reads.destroy();
});

it('the first page of a long feed counts only a part of the feed', async () => {
  await sql`
    INSERT INTO events (project_id, name) SELECT ${api.two.id}, 'many' FROM generate_series(1, 10500)`.execute(api.db);
  const first = await api.call('GET', '/activity?limit=10', { key: api.two.secretKey });
  expect([first.body.total, first.body.hasMore]).toEqual([10_000, true]);
});
