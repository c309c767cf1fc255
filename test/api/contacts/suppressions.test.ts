import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  addSuppressions,
  createSuppressionPads,
  findSuppressionFor,
  isNotSuppressedSql,
} from '../../../db/contacts/suppressions.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const addSuppression = (email: string, reason?: string) =>
  api.call('POST', '/suppressions', { body: { email, reason } });
const listSuppressions = async (email: string) =>
  (await api.call('GET', '/suppressions?limit=100')).body.data.filter(
    (entry: { email: string }) => entry.email === email,
  );

describe('the suppression list', () => {
  it('accepts an address once per reason, lists it, and deletes it on request', async () => {
    expect(await addSuppression('Ada@X.com', 'hard_bounce')).toMatchObject({
      status: 201,
      body: { email: 'ada@x.com', reason: 'hard_bounce', source: 'api' },
    });
    await addSuppression('ada@x.com', 'hard_bounce');
    await addSuppression('ada@x.com');
    expect((await listSuppressions('ada@x.com')).map((entry: { reason: string }) => entry.reason)).toEqual([
      'manual',
      'hard_bounce',
    ]);
    expect((await api.call('DELETE', '/v1/suppressions/ADA%40x.com')).status).toBe(204);
    expect(await listSuppressions('ada@x.com')).toEqual([]);
    expect((await api.call('DELETE', '/suppressions/ada@x.com')).status).toBe(404);
  });

  it.each([
    ['complaint', false],
    ['unsubscribe', false],
    ['hard_bounce', true],
    ['manual', true],
  ])('an entry with reason %s leaves the contact subscribed: %s', async (reason, subscribed) => {
    const email = `${reason.replace('_', '-')}@x.com`;
    const { id } = (await api.call('POST', '/contacts', { body: { email } })).body;
    await addSuppression(email, reason);
    expect((await api.call('GET', `/contacts/${id}`)).body.subscribed).toBe(subscribed);
    const { rows } = await sql<{ name: string }>`SELECT name FROM events WHERE contact_id = ${id}`.execute(api.db);
    expect(rows.map((row) => row.name)).toEqual([
      'contact.subscribed',
      ...(subscribed ? [] : ['contact.unsubscribed']),
    ]);
  });

  it.each(['complaint', 'unsubscribe', 'hard_bounce', 'manual'])(
    'an entry with reason %s creates contacts with the address unsubscribed, until subscribed: true is written',
    async (reason) => {
      const createAddress = (route: string) => `${route}-${reason.replace('_', '-')}@x.com`;
      for (const route of ['api', 'track', 'members']) await addSuppression(createAddress(route), reason);
      const saved = await api.call('POST', '/contacts', { body: { email: createAddress('api') } });
      expect(saved.body).toMatchObject({ subscribed: false, _meta: { isNew: true } });
      await api.call('POST', '/v1/track', { body: { email: createAddress('track'), event: 'signed.up' } });
      const segment = await api.call('POST', '/segments', { body: { name: `s ${reason}`, type: 'STATIC' } });
      const members = { emails: [createAddress('members')], createMissing: true, subscribed: true };
      const joined = await api.call('POST', `/segments/${segment.body.id}/members`, { body: members });
      expect(joined.status, JSON.stringify(joined.body)).toBe(200);
      const emails = ['track', 'members'].map(createAddress);
      const { found } = (await api.call('POST', '/contacts/lookup', { body: { emails } })).body;
      expect(found.map((one: { subscribed: boolean }) => one.subscribed)).toEqual([false, false]);
      const again = await api.call('POST', '/contacts', { body: { email: createAddress('api'), subscribed: true } });
      expect(again.body).toMatchObject({ subscribed: true });
    },
  );

  it('SQL finds entries by the same keyed hash, by reason and type of email', async () => {
    const key = deriveKey(api.deps.config.secretKey, 'suppression');
    const projectId = api.one.id;
    const reasons = ['hard_bounce', 'complaint', 'unsubscribe', 'manual'] as const;
    await addSuppressions(api.db, key, {
      projectId,
      entries: reasons.map((reason) => ({ email: `${reason}@sql.example`, reason, source: 'test' })),
    });
    const pads = createSuppressionPads(key);
    for (const type of ['MARKETING', 'TRANSACTIONAL'] as const) {
      const free: string[] = [];
      for (const email of [...reasons, 'free'].map((name) => `${name}@sql.example`)) {
        const predicate = isNotSuppressedSql({ pads, email: sql`${email}::text`, projectId, type });
        const { rows } = await sql<{ free: boolean }>`SELECT ${predicate} AS free`.execute(api.db);
        const found = await findSuppressionFor(api.db, key, { projectId, email, type });
        expect(rows[0]?.free).toBe(found === undefined);
        if (rows[0]?.free) free.push(email.split('@')[0] ?? '');
      }
      expect(free).toEqual(type === 'MARKETING' ? ['free'] : ['complaint', 'unsubscribe', 'free']);
    }
  });

  it('stores no address in plain text except in the entry itself', async () => {
    await addSuppression('hidden@x.com', 'manual');
    const { rows } = await sql<{ hash: string }>`
      SELECT encode(address_hash, 'hex') AS hash FROM suppressions WHERE email = 'hidden@x.com'`.execute(api.db);
    const { rows: plain } = await sql<{ hash: string }>`SELECT encode(sha256('hidden@x.com'), 'hex') AS hash`.execute(
      api.db,
    );
    expect(rows[0]?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(rows[0]?.hash).not.toBe(plain[0]?.hash);
  });

  it.each([{ email: 'nope' }, {}, { email: 'a@x.com', reason: 'other' }])('refuses %j', async (body) => {
    expect((await api.call('POST', '/suppressions', { body })).status).toBe(422);
  });

  it('applies to its own project only', async () => {
    await addSuppression('shared@x.com', 'manual');
    const key = api.two.secretKey;
    expect((await api.call('GET', '/suppressions', { key })).body).toMatchObject({ data: [], total: 0 });
    expect((await api.call('DELETE', '/suppressions/shared@x.com', { key })).status).toBe(404);
    expect(await listSuppressions('shared@x.com')).toHaveLength(1);
    const bare = await api.call('GET', '/suppressions', { key: api.one.bareKey });
    expect(bare.body.error.details.requiredScope).toBe('contacts:view');
  });
});
