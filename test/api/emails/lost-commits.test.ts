import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { createApp } from '../../../api/http/app.ts';
import { connect, type Db } from '../../../db/connection.ts';
import { buildDomain } from '../../build/senders.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { readResponse, toRequestInit } from '../../support/http.ts';
import { type PostgresProxy, startPostgresProxy } from '../../support/postgres-proxy.ts';

let api: TestApi;
let proxy: PostgresProxy;
let db: Db;
let app: ReturnType<typeof createApp>;

beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id });
});
beforeEach(async () => {
  const { rows } = await sql<{ url: string }>`SELECT current_database() AS url`.execute(api.db);
  const url = Object.assign(new URL(api.deps.config.database.url), { pathname: `/${rows[0]?.url}` });
  proxy = await startPostgresProxy(url.href);
  ({ db } = connect({ connectionString: proxy.url, max: 4, applicationName: 'test', onError: () => {} }));
  app = createApp({ ...api.deps, db });
  // These first requests open the connections and compile the code.
  await Promise.all([sendConcurrentRequests('send', createNames(1)), sendConcurrentRequests('track', createNames(1))]);
});
afterEach(async () => {
  await db.destroy();
  await proxy.close();
});
afterAll(() => api?.close());

/** Kinds of requests, and the query that counts their effects. */
const kinds = {
  send: {
    path: '/v1/send',
    body: (name: string) => ({
      to: `${name}@example.com`,
      from: 'hello@shop.example.com',
      subject: name,
      body: '<p>Hi</p>',
    }),
    effects: () => sql<{ n: number }>`SELECT count(*) AS n FROM emails`.execute(api.db),
  },
  track: {
    path: '/v1/track',
    body: (name: string) => ({ email: `${name}@example.com`, event: 'bought' }),
    effects: () => sql<{ n: number }>`SELECT count(*) AS n FROM events WHERE name = 'bought'`.execute(api.db),
  },
};
let nameCount = 0;

/**
 * Sends concurrent requests. The first request has a transaction of its own. The others share the next transaction,
 * except on a very busy machine.
 */
async function sendConcurrentRequests(kind: keyof typeof kinds, names: string[], key?: (name: string) => string) {
  const { path, body } = kinds[kind];
  const responses = names.map(async (name) => {
    const headers = key && { 'idempotency-key': key(name) };
    const options = { key: api.one.secretKey, body: body(name), ...(headers && { headers }) };
    return readResponse(await app.request(path, toRequestInit('POST', options)));
  });
  return Promise.all(responses);
}
const countEffects = async (kind: keyof typeof kinds) => (await kinds[kind].effects()).rows[0]?.n ?? 0;
const createNames = (n: number) => Array.from({ length: n }, () => `lost${++nameCount}`);

for (const kind of ['send', 'track'] as const) {
  for (const key of [undefined, (name: string) => `key ${name}`]) {
    const how = key ? 'with an Idempotency-Key' : 'without a key';

    it(`/v1/${kind} ${how}: if the response to a shared COMMIT is lost, its requests return 200 and take effect once`, async () => {
      const before = await countEffects(kind);
      proxy.loseCommit('response', { skip: 1 });
      const responses = await sendConcurrentRequests(kind, createNames(5), key);
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      expect((await countEffects(kind)) - before).toBe(5);
    });

    it(`/v1/${kind} ${how}: if the response to its COMMIT is lost, a single request returns 200`, async () => {
      const before = await countEffects(kind);
      proxy.loseCommit('response');
      expect((await sendConcurrentRequests(kind, createNames(1), key)).map(({ status }) => status)).toEqual([200]);
      expect((await countEffects(kind)) - before).toBe(1);
    });
  }

  it(`/v1/${kind}: while the result of a COMMIT is unknown, 503 explains how to repeat, and a repetition takes effect once`, async () => {
    const before = await countEffects(kind);
    const names = createNames(4);
    const createKey = (name: string) => `key ${name}`;
    proxy.loseCommit('response', { later: 'refused', skip: 1 });
    const responses = await sendConcurrentRequests(kind, names, createKey);
    // Timing decides which requests share a COMMIT, and whether other transactions commit before it.
    const refused = responses.filter(({ status }) => status !== 200);
    for (const { status, headers, body } of refused)
      expect([status, headers.get('retry-after'), body.error.code]).toEqual([503, '2', 'SERVICE_UNAVAILABLE']);
    const unknown = refused.filter(({ body }) => body.error.suggestion.includes('same Idempotency-Key'));
    expect(unknown.length).toBeGreaterThan(0);
    proxy.open();
    const again = await sendConcurrentRequests(
      kind,
      names.filter((_, n) => responses[n]?.status !== 200),
      createKey,
    );
    const known = again.filter(({ body }) => body.error?.details.originalStatusCode === 200);
    expect(known).toHaveLength(unknown.length);
    expect((await countEffects(kind)) - before).toBe(4);
  });
}
