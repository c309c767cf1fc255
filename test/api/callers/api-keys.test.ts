import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKeyCache } from '../../../api/http/key-cache.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { signIn } from '../../support/session.ts';

let api: TestApi;
let owner: Record<string, string>;
beforeAll(async () => {
  api = await startTestApi();
  owner = await signIn(api, api.one);
});
afterAll(() => api.close());

const callAsOwner = (method: string, path: string, body?: unknown) =>
  api.call(method, path, { key: null, headers: owner, body });
const createKey = async (body: object = {}) =>
  callAsOwner('POST', '/apikeys', { name: 'k', scopes: ['email:send'], ...body });

describe('API keys', () => {
  it('show their text once, and the text contains their mode', async () => {
    const live = await createKey();
    expect(live.status).toBe(201);
    expect(live.body.key).toMatch(/^sk_live_[0-9a-f]{64}$/);
    expect(live.body.key.startsWith(live.body.prefix)).toBe(true);
    const test = await createKey({ mode: 'test', expiresAt: '2099-01-01T00:00:00Z' });
    expect(test.body).toMatchObject({ mode: 'test', expiresAt: '2099-01-01T00:00:00.000Z', revokedAt: null });
    expect(test.body.key).toMatch(/^sk_test_/);
    const list = await callAsOwner('GET', '/apikeys');
    expect(JSON.stringify(list.body)).not.toContain(live.body.key);
    expect(list.body.data.map((key: { id: string }) => key.id)).toEqual(expect.arrayContaining([live.body.id]));
  });

  it.each([['apikeys:manage'], ['campaigns:approve'], ['no:such'], ['']])(
    'API keys cannot have the scope "%s"',
    async (scope) => {
      const refused = await createKey({ scopes: ['email:send', scope] });
      expect([refused.status, refused.body.error.errors[0].field]).toEqual([422, 'scopes.1']);
    },
  );

  it('cannot be created, listed or revoked by a request with a key', async () => {
    for (const key of [api.one.secretKey, api.one.publicKey, api.one.testKey]) {
      const refused = await api.call('GET', '/apikeys', { key });
      expect([refused.status, refused.body.error.code]).toEqual([401, 'INVALID_API_KEY']);
    }
  });

  it('cannot be managed by a MEMBER or by users of another project', async () => {
    const member = await signIn(api, api.one, 'MEMBER');
    const refused = await api.call('GET', '/apikeys', { key: null, headers: member });
    expect([refused.status, refused.body.error.details.requiredScope]).toEqual([403, 'apikeys:manage']);
    const otherUser = await signIn(api, api.two);
    const { id } = (await createKey()).body;
    expect((await api.call('POST', `/apikeys/${id}/revoke`, { key: null, headers: otherUser })).status).toBe(404);
    expect((await callAsOwner('POST', '/apikeys/nonsense/revoke')).status).toBe(404);
  });

  it('stop working at once on every process when revoked, and keep the time of the first revocation', async () => {
    const { id, key } = (await createKey()).body;
    const other = createKeyCache({ db: api.db, databaseUrl: api.deps.config.database.url, log: api.deps.log });
    await expect.poll(() => other.find(key)).toBeDefined();
    expect(await api.deps.keys.find(key)).toBeDefined();
    const first = await callAsOwner('POST', `/apikeys/${id}/revoke`);
    expect(first.status).toBe(200);
    expect(await api.deps.keys.find(key)).toBeUndefined();
    await expect.poll(() => other.find(key), { interval: 5 }).toBeUndefined();
    const again = await callAsOwner('POST', `/apikeys/${id}/revoke`);
    expect(again.body.revokedAt).toBe(first.body.revokedAt);
    expect(again.body.updatedAt).toBe(first.body.revokedAt);
    await other.close();
  });

  it('stop working at once also while a process receives no notifications from Postgres', async () => {
    const { id, key } = (await createKey()).body;
    const deaf = createKeyCache({ db: api.db, databaseUrl: api.deps.config.database.url, log: api.deps.log });
    await expect.poll(() => deaf.find(key)).toBeDefined();
    const listeners = sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'tidings-api-listen' AND datname = current_database()`;
    await listeners.execute(api.db);
    await callAsOwner('POST', `/apikeys/${id}/revoke`);
    await expect.poll(() => deaf.find(key), { interval: 5 }).toBeUndefined();
    const next = (await createKey()).body;
    await expect.poll(() => deaf.find(next.key)).toBeDefined();
    await callAsOwner('POST', `/apikeys/${next.id}/revoke`);
    await expect.poll(() => deaf.find(next.key), { interval: 5 }).toBeUndefined();
    await deaf.close();
  });

  it('stop working when they expire, although they are cached in memory', async () => {
    const { key } = (await createKey({ expiresAt: new Date(Date.now() + 1500).toISOString() })).body;
    expect(await api.deps.keys.find(key)).toBeDefined();
    await expect.poll(() => api.deps.keys.find(key)).toBeUndefined();
    expect((await createKey({ expiresAt: '2020-01-01T00:00:00Z' })).body.error.errors[0].field).toBe('expiresAt');
  });

  it('API keys record the time of their last use', async () => {
    const { id, key } = (await createKey()).body;
    await api.deps.keys.find(key);
    const readLastUsed = async () => {
      const list = await callAsOwner('GET', '/apikeys');
      return list.body.data.find((record: { id: string }) => record.id === id).lastUsedAt;
    };
    await expect.poll(readLastUsed).not.toBeNull();
  });

  it("include the project's public key: after its rotation the new key works, and the old one does not", async () => {
    const otherUser = await signIn(api, api.two);
    const rotated = await api.call('POST', '/apikeys/public/rotate', { key: null, headers: otherUser });
    expect(rotated.body.public).toMatch(/^pk_[0-9a-f]{64}$/);
    expect(await api.deps.keys.find(api.two.publicKey)).toBeUndefined();
    expect((await api.deps.keys.find(rotated.body.public))?.kind).toBe('public');
  });

  it('are in the audit log when they are created or revoked, without their text', async () => {
    const { id, key } = (await createKey({ name: 'traced' })).body;
    await callAsOwner('POST', `/apikeys/${id}/revoke`);
    const log = await callAsOwner('GET', '/audit-log?limit=2');
    expect(log.body.data.map(({ action, target }: Record<string, string>) => ({ action, target }))).toEqual([
      { action: 'apikey.revoked', target: id },
      { action: 'apikey.created', target: id },
    ]);
    expect(JSON.stringify(log.body)).not.toContain(key);
    const next = await callAsOwner('GET', `/audit-log?limit=2&cursor=${log.body.cursor}`);
    expect(next.body.total).toBe(0);
    expect(next.body.data[0].id < log.body.data[1].id).toBe(true);
    expect((await callAsOwner('GET', '/audit-log?cursor=nonsense')).body.error.code).toBe('VALIDATION_ERROR');
  });
});
