import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildDomain } from '../build/senders.ts';
import { type CallOptions, startTestApi, type TestApi } from '../support/api.ts';
import { buildEverything } from '../support/everything.ts';
import { signIn } from '../support/session.ts';

let api: TestApi;
let owner: Record<string, string>;
let idOf: (path: string, param: string) => string | undefined;

beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id });
  owner = await signIn(api, api.one);
  idOf = await buildEverything(api.db, api.one.id);
});
afterAll(() => api.close());

type Json = Record<string, unknown>;
describe('an idempotency key', () => {
  const post = (path: string, body: Json, key: string, options: CallOptions = {}) =>
    api.call('POST', path, { body, ...options, headers: { 'idempotency-key': key, ...options.headers } });

  it('is shared by the two paths of an operation, and is refused for another operation', async () => {
    const key = uuidv7();
    const first = await post('/contacts', { email: 'paths@x.test' }, key);
    const again = await post('/v1/contacts', { email: 'paths@x.test' }, key);
    expect(again.body.error.details).toMatchObject({
      sameRequest: true,
      originalRequest: 'POST /v1/contacts',
      originalStatusCode: first.status,
    });
    expect(again.body.error.details.originalResponse).toEqual(first.body);
    const other = await post('/v1/topics', { name: 'T' }, key);
    expect([other.status, other.body.error.details]).toMatchObject([
      409,
      { sameRequest: false, originalResponse: null },
    ]);
    expect(again.body.error.suggestion).toContain('details.originalResponse');
    expect(other.body.error.suggestion).toContain('Use a new key');
  });

  it('accepts one of twenty concurrent requests', async () => {
    const key = uuidv7();
    const all = await Promise.all(
      Array.from({ length: 20 }, () =>
        post(
          '/v1/campaigns',
          { name: 'Once', subject: 'S', body: '<p>b</p>', from: 'x@shop.example.com', audienceType: 'ALL' },
          key,
        ),
      ),
    );
    expect(all.filter(({ status }) => status === 409)).toHaveLength(19);
    const rows = await api.db.selectFrom('campaigns').select('id').where('name', '=', 'Once').execute();
    expect(rows).toHaveLength(1);
  });

  it('can be used again after a refusal, which stores nothing', async () => {
    const key = uuidv7();
    expect((await post('/v1/topics', { name: '' }, key)).status).toBe(422);
    expect((await post(`/v1/campaigns/${uuidv7()}/send`, {}, key)).status).toBe(404);
    expect((await post('/v1/topics', { name: 'After a refusal' }, key)).status).toBe(201);
  });

  it('is separate for each project', async () => {
    const key = uuidv7();
    expect((await post('/v1/topics', { name: 'Mine' }, key)).status).toBe(201);
    expect((await post('/v1/topics', { name: 'Mine' }, key, { key: api.two.secretKey })).status).toBe(201);
  });

  it('shows its response to no other API key', async () => {
    const key = uuidv7();
    await post('/v1/topics', { name: 'Other key' }, key);
    const seen = await post('/v1/topics', { name: 'Other key' }, key, { key: api.one.testKey });
    expect(seen.body.error.details).toMatchObject({ sameRequest: true, originalResponse: null });
    expect(seen.body.error.suggestion).toContain('Read its record instead');
    expect(seen.body.error.suggestion).not.toContain('originalResponse');
  });

  it('does not store secrets that are shown once', async () => {
    const postAsOwner = (path: string, body: Json, key: string) =>
      api.call('POST', path, { key: null, body, headers: { ...owner, 'idempotency-key': key } });
    const secrets: [string, Json, string][] = [
      ['/apikeys', { name: 'K', scopes: ['email:send'], mode: 'test' }, 'key'],
      ['/team/invitations', { email: 'new@people.test', role: 'MEMBER' }, 'url'],
      ['/webhooks', { url: 'https://hooks.example.com/x', events: ['*'] }, 'secret'],
    ];
    for (const [path, body, shownOnce] of secrets) {
      const key = uuidv7();
      const first = await postAsOwner(path, body, key);
      expect([first.status, typeof first.body[shownOnce]], path).toEqual([201, 'string']);
      const { details } = (await postAsOwner(path, body, key)).body.error;
      const { [shownOnce]: _, ...kept } = first.body;
      expect(details.originalResponse, path).toEqual(kept);
      const row = await api.db
        .selectFrom('idempotency_keys')
        .select('response')
        .where('key', '=', key)
        .executeTakeFirstOrThrow();
      expect(JSON.stringify(row.response), path).not.toContain(first.body[shownOnce]);
    }
  });

  it('the key of an import does not depend on the multipart boundary', async () => {
    const key = uuidv7();
    const uploadCsv = async (csv: string) => {
      const form = new FormData();
      form.set('file', new File([csv], 'a.csv'));
      const response = await api.app.request('/v1/contacts/import', {
        method: 'POST',
        headers: { authorization: `Bearer ${api.one.secretKey}`, 'idempotency-key': key },
        body: form,
      });
      // biome-ignore lint/suspicious/noExplicitAny: responses of two shapes
      return { status: response.status, body: (await response.json()) as any };
    };
    expect((await uploadCsv('email\na@x.test\n')).status).toBe(202);
    expect((await uploadCsv('email\na@x.test\n')).body.error.details.sameRequest).toBe(true);
    expect((await uploadCsv('email\nb@x.test\n')).body.error.details.sameRequest).toBe(false);
  });

  it('wakes the workers only for the first request', async () => {
    const { body } = await post('/v1/contacts', { email: 'started@x.test' }, uuidv7());
    const workflowId = idOf('/workflows/{id}', 'id') ?? '';
    const before = api.dispatched.length;
    const key = uuidv7();
    const startExecution = () =>
      post(`/v1/workflows/${workflowId}/executions`, { contactId: body.id, sandbox: true }, key);
    const first = await startExecution();
    expect(first.status).toBe(201);
    const rows = api.dispatched.length - before;
    expect(rows).toBeGreaterThan(0);
    expect((await startExecution()).status).toBe(409);
    expect(api.dispatched.length - before).toBe(rows);
  });
});

describe('the erasure of a person', () => {
  let key: string;
  beforeEach(() => {
    key = uuidv7();
  });

  it.each([
    ['/v1/contacts', { email: 'marked@x.test', data: { name: 'Marked' } }],
    ['/v1/suppressions', { email: 'marked@x.test', reason: 'manual' }],
    ['/v1/track', { email: 'marked@x.test', event: 'e' }],
    ['/v1/templates/test', { email: 'marked@x.test', subject: 'S', body: '<p>b</p>', from: 'x@shop.example.com' }],
  ])('deletes the stored response of POST %s', async (path, body) => {
    const { body: contact } = await api.call('POST', '/v1/contacts', { body: { email: 'marked@x.test' } });
    const first = await api.call('POST', path, { body, headers: { 'idempotency-key': key } });
    expect(first.status).toBeLessThan(300);
    const { deleted } = { deleted: await api.call('DELETE', `/v1/contacts/${contact.id}`) };
    expect(deleted.status).toBeLessThan(300);
    const row = await api.db
      .selectFrom('idempotency_keys')
      .select('response')
      .where('key', '=', key)
      .executeTakeFirstOrThrow();
    expect(row.response).toBeNull();
    await api.call('DELETE', '/v1/suppressions/marked@x.test');
  });
});
