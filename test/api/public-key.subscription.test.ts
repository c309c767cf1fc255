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
const eventNames = async (email: string): Promise<string[]> => {
  const { id } = await contactOf(email);
  const { rows } = await sql<{ name: string }>`SELECT name FROM events WHERE contact_id = ${id} ORDER BY id`.execute(
    api.db,
  );
  return rows.map((row) => row.name);
};

describe('`subscribed` by the public key', () => {
  const subscribedOf = async (email: string) => (await contactOf(email)).subscribed;

  it('false unsubscribes nobody', async () => {
    await save({ email: 'dora@example.com', subscribed: true });
    expect((await track({ email: 'dora@example.com', subscribed: false })).status).toBe(200);
    expect(await subscribedOf('dora@example.com')).toBe(true);
    expect(await eventNames('dora@example.com')).toEqual(['page_form']);
  });

  it('true brings nobody back whom the project unsubscribed', async () => {
    const { body } = await save({ email: 'erin@example.com', subscribed: true });
    await api.call('PATCH', `/contacts/${body.id}`, { body: { subscribed: false } });
    await track({ email: 'erin@example.com', subscribed: true, data: { a: 1 } });
    expect(await contactOf('erin@example.com')).toMatchObject({ subscribed: false, data: { a: 1 } });
    expect(await eventNames('erin@example.com')).toEqual(['contact.unsubscribed', 'page_form']);
  });

  it.each(['unsubscribe', 'complaint', 'hard_bounce', 'manual'])(
    'true brings nobody back from the list: %s',
    async (reason) => {
      const email = `listed-${reason.replace('_', '-')}@example.com`;
      await save({ email, subscribed: false });
      await api.call('POST', '/suppressions', { body: { email, reason } });
      await track({ email, subscribed: true });
      expect(await subscribedOf(email)).toBe(false);
    },
  );

  it('true subscribes who was created unsubscribed, by whomever', async () => {
    await save({ email: 'saved@example.com', subscribed: false });
    await send({ to: 'sent@example.com' });
    await track({ email: 'declined@example.com', subscribed: false });
    expect(await subscribedOf('declined@example.com')).toBe(false);
    for (const email of ['saved@example.com', 'sent@example.com', 'declined@example.com']) {
      await track({ email, subscribed: true });
      expect([email, await subscribedOf(email)]).toEqual([email, true]);
      expect(await eventNames(email)).toContain('contact.subscribed');
    }
  });

  it('true does not undo what is said at the same moment', async () => {
    for (let n = 0; n < 15; n += 1) {
      const email = `race-${n}@example.com`;
      const { body } = await save({ email, subscribed: true });
      await Promise.all([
        api.call('PATCH', `/contacts/${body.id}`, { body: { subscribed: false } }),
        track({ email, subscribed: true, data: { n } }),
        track({ email, subscribed: true, data: { n: n + 1 } }),
      ]);
      expect(await subscribedOf(email)).toBe(false);
    }
  });

  it('of who was unsubscribed before the service noted it is judged by their history', async () => {
    for (const email of ['before-left@example.com', 'before-new@example.com']) {
      const { body } = await save({ email, subscribed: email.includes('left') });
      if (email.includes('left')) await api.call('PATCH', `/contacts/${body.id}`, { body: { subscribed: false } });
      await sql`UPDATE contacts SET was_unsubscribed = NULL WHERE id = ${body.id}`.execute(api.db);
      await track({ email, subscribed: true });
    }
    expect(await subscribedOf('before-left@example.com')).toBe(false);
    expect(await subscribedOf('before-new@example.com')).toBe(true);
  });
});
