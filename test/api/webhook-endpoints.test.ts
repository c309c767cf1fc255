import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

const create = (url: string, to = api) => to.call('POST', '/v1/webhooks', { body: { url, events: ['*'] } });

it.each([
  'http://127.0.0.1:8080/hooks',
  'http://2130706433/',
  'https://[::1]/hooks',
  'http://10.1.2.3/',
  'http://169.254.169.254/latest',
  'https://localhost/hooks',
  'https://user:secret@api.localhost./hooks',
])('an endpoint at %s is refused when it is created or changed', async (url) => {
  const refused = await create(url);
  expect([refused.status, refused.body.error.errors]).toEqual([
    422,
    [{ field: 'url', message: expect.stringContaining('Use a public URL'), code: 'custom' }],
  ]);
  const { id } = (await create('https://hooks.example.com/x')).body;
  const changed = await api.call('PATCH', `/v1/webhooks/${id}`, { body: { url } });
  expect([changed.status, changed.body.error.errors[0].field]).toEqual([422, 'url']);
});

it('a name is taken, because each delivery checks its address', async () => {
  expect((await create('https://hooks.internal/x')).status).toBe(201);
});

it('an endpoint that is stored already can be sent back and disabled', async () => {
  const { id } = (await create('https://hooks.example.com/y')).body;
  await api.db.updateTable('webhook_endpoints').set({ url: 'http://127.0.0.1/y' }).where('id', '=', id).execute();
  const { body: record } = await api.call('GET', `/v1/webhooks/${id}`);
  const disabled = await api.call('PATCH', `/v1/webhooks/${id}`, { body: { ...record, enabled: false } });
  expect([disabled.status, disabled.body.status]).toEqual([200, 'DISABLED']);
});

it('a service for development allows private addresses', async () => {
  const development = await startTestApi({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  try {
    expect((await create('http://127.0.0.1:8080/hooks', development)).status).toBe(201);
  } finally {
    await development.close();
  }
});
