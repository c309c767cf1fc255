import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDomain } from '../build/senders.ts';
import { type CallResult, startTestApi, type TestApi } from '../support/api.ts';

// What a stranger who has read the public key from a page can do to the project and its people.
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id });
});
afterAll(() => api.close());

const KB = 1024;
const keyed = (key: string | undefined) => (key === undefined ? {} : { headers: { 'idempotency-key': key } });
/** By the public key unless another is given. */
const track = (body: object, options: { key?: string; idempotencyKey?: string } = {}): Promise<CallResult> =>
  api.call('POST', '/v1/track', {
    key: options.key ?? api.one.publicKey,
    body: { event: 'page_form', ...body },
    ...keyed(options.idempotencyKey),
  });
const save = (body: object) => api.call('POST', '/contacts', { body });
const send = (body: object, options: { key?: string; idempotencyKey?: string } = {}) =>
  api.call('POST', '/v1/send', {
    key: options.key ?? api.one.secretKey,
    body: { from: 'x@shop.example.com', subject: 'Hello', body: '<p>{{resetCode}}</p>', ...body },
    ...keyed(options.idempotencyKey),
  });
const contactOf = async (email: string) =>
  (await api.call('GET', `/contacts?search=${encodeURIComponent(email)}`)).body.data[0];
const dataOf = async (email: string) => (await contactOf(email)).data;
const fields = (count: number, value: unknown = 'x') =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`field${i}`, value]));

describe('data that the public key brings', () => {
  it('is at most 20 fields a contact, and takes no room from the project’s own', async () => {
    await save({ email: 'blocked@example.com', data: { plan: 'pro' } });
    expect((await track({ email: 'blocked@example.com', data: fields(199) })).status).toBe(200);
    expect(Object.keys(await dataOf('blocked@example.com'))).toHaveLength(21);
    const mail = await send({
      to: ['blocked@example.com', 'b@example.com', 'c@example.com'],
      data: { resetCode: '123456' },
    });
    expect(mail.status).toBe(200);
    const own = Object.fromEntries(Array.from({ length: 198 }, (_, i) => [`own${i}`, i]));
    expect((await save({ email: 'blocked@example.com', data: own })).status).toBe(200);
    expect((await save({ email: 'blocked@example.com', data: { oneMore: 1 } })).status).toBe(422);
  });

  it('fails no send, though it was stored when there was no such limit', async () => {
    await save({ email: 'old@example.com' });
    const stored = fields(200, 'x'.repeat(300));
    await sql`
      UPDATE contacts SET data = ${JSON.stringify(stored)}::jsonb, untrusted_keys = ${Object.keys(stored)}
      WHERE project_id = ${api.one.id} AND email = 'old@example.com'
    `.execute(api.db);
    expect((await send({ to: 'old@example.com', data: { resetCode: 'x'.repeat(8 * KB) } })).status).toBe(200);
  });

  it('is at most 20 fields and 4 KB over all its requests; the event has it all', async () => {
    for (let n = 0; n < 3; n += 1) {
      const data = { [`note${n}`]: 'y'.repeat(1_500), ...Object.fromEntries([[`short${n}`, n]]) };
      expect((await track({ email: 'quota@example.com', data })).status).toBe(200);
    }
    expect(Object.keys(await dataOf('quota@example.com')).sort()).toEqual([
      'note0',
      'note1',
      'short0',
      'short1',
      'short2',
    ]);
    await track({ email: 'quota@example.com', data: { note0: 'shorter', note2: 'z'.repeat(2_000) } });
    expect(await dataOf('quota@example.com')).toMatchObject({ note0: 'shorter', note2: 'z'.repeat(2_000) });
    const { rows } = await sql<{ data: object }>`
      SELECT data FROM events WHERE project_id = ${api.one.id} AND data ? 'note2' ORDER BY id LIMIT 1`.execute(api.db);
    expect(rows[0]?.data).toEqual({ note2: 'y'.repeat(1_500), short2: 2 });
  });

  it('holds its bounds and loses nothing when it comes from many sides at once', async () => {
    await save({ email: 'race@example.com' });
    await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        track({ email: 'race@example.com', event: `e${n}`, data: { [`k${n}`]: n } }),
      ),
    );
    expect(Object.keys(await dataOf('race@example.com'))).toHaveLength(20);
  });

  it('overwrites and removes nothing that the project wrote, and changes what it wrote itself', async () => {
    await save({ email: 'carol@example.com', data: { name: 'Carol', phone: '+4915112345678', plan: 'pro' } });
    const { status } = await track({
      email: 'carol@example.com',
      data: { name: 'Mallory', phone: '+4900000000', plan: null, size: 'M' },
    });
    expect(status).toBe(200);
    const trusted = { name: 'Carol', phone: '+4915112345678', plan: 'pro' };
    expect(await dataOf('carol@example.com')).toEqual({ ...trusted, size: 'M' });
    await track({ email: 'carol@example.com', data: { size: 'L' } });
    expect(await dataOf('carol@example.com')).toEqual({ ...trusted, size: 'L' });
    await track({ email: 'carol@example.com', data: { size: null } });
    expect(await dataOf('carol@example.com')).toEqual({ ...trusted, size: 'L' });
    await save({ email: 'carol@example.com', data: { size: 'XL' } });
    await track({ email: 'carol@example.com', data: { size: 'S' } });
    expect(await dataOf('carol@example.com')).toEqual({ ...trusted, size: 'XL' });
  });
});
