import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

const createEndpoint = (url: string, to = api) => to.call('POST', '/v1/webhooks', { body: { url, events: ['*'] } });

it.each([
  'http://127.0.0.1:8080/hooks',
  'http://2130706433/',
  'https://[::1]/hooks',
  'http://10.1.2.3/',
  'http://169.254.169.254/latest',
  'https://localhost/hooks',
  'https://user:secret@api.localhost./hooks',
])('an endpoint at %s is refused when it is created or changed', async (url) => {
  const refused = await createEndpoint(url);
  expect([refused.status, refused.body.error.errors]).toEqual([
    422,
    [{ field: 'url', message: expect.stringContaining('Use a public URL'), code: 'custom' }],
  ]);
  const { id } = (await createEndpoint('https://hooks.example.com/x')).body;
  const changed = await api.call('PATCH', `/v1/webhooks/${id}`, { body: { url } });
  expect([changed.status, changed.body.error.errors[0].field]).toEqual([422, 'url']);
});

it('a URL with a host name is accepted, because each delivery checks the address', async () => {
  expect((await createEndpoint('https://hooks.internal/x')).status).toBe(201);
});

it('a stored endpoint can be sent back unchanged and can be disabled', async () => {
  const { id } = (await createEndpoint('https://hooks.example.com/y')).body;
  await api.db.updateTable('webhook_endpoints').set({ url: 'http://127.0.0.1/y' }).where('id', '=', id).execute();
  const { body: record } = await api.call('GET', `/v1/webhooks/${id}`);
  const disabled = await api.call('PATCH', `/v1/webhooks/${id}`, { body: { ...record, enabled: false } });
  expect([disabled.status, disabled.body.status]).toEqual([200, 'DISABLED']);
});

it('an endpoint can be created disabled', async () => {
  const body = { url: 'https://hooks.example.com/later', events: ['*'], enabled: false };
  const created = await api.call('POST', '/v1/webhooks', { body });
  expect(created).toMatchObject({ status: 201, body: { enabled: false, status: 'DISABLED' } });
  expect(created.body.secret).toMatch(/^whsec_/);
});

it('a service for development allows private addresses', async () => {
  const development = await startTestApi({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  try {
    expect((await createEndpoint('http://127.0.0.1:8080/hooks', development)).status).toBe(201);
  } finally {
    await development.close();
  }
});

it('a step with a URL that can never be called is refused at every entry point, unless the URL is stored already', async () => {
  const { id } = (await api.call('POST', '/workflows', { body: { name: 'Hooks', slug: 'hooks', eventName: 'e' } }))
    .body;
  const createStepBody = (url: string) => ({ type: 'WEBHOOK', name: 'Call', config: { url } });
  const addStep = (url: string) => api.call('POST', `/workflows/${id}/steps`, { body: createStepBody(url) });
  for (const url of ['http://127.0.0.1/x', 'http://10.1.2.3:{{event.port}}/', 'https://{{event.a}}.localhost/x'])
    expect((await addStep(url)).body.error?.errors, url).toMatchObject([{ field: 'config.url' }]);
  const { id: stepId } = (await addStep('https://{{event.host}}/x')).body;
  const path = `/workflows/${id}/steps/${stepId}`;
  const patched = await api.call('PATCH', path, { body: { config: { url: 'http://[::1]/x' } } });
  expect([patched.status, patched.body.error.errors[0].field]).toEqual([422, 'config.url']);
  const graph = { entryStepId: 'a', steps: [{ id: 'a', ...createStepBody('http://10.0.0.1/') }], transitions: [] };
  const saved = await api.call('PUT', `/workflows/${id}/graph`, { body: graph });
  expect([saved.status, saved.body.error.errors[0].field]).toEqual([422, 'steps.a.config.url']);
  const document = {
    workflows: [{ slug: 'hooks', name: 'Hooks', steps: [{ slug: 'call', ...createStepBody('http://10.0.0.1/') }] }],
  };
  const applied = await api.call('POST', '/project/apply', { body: document });
  expect([applied.status, applied.body.error.errors[0].field]).toEqual([422, 'workflows.0.steps.0.config.url']);

  await api.db
    .updateTable('workflow_steps')
    .set({ config: JSON.stringify({ url: 'http://10.0.0.1/a' }) })
    .where('id', '=', stepId)
    .execute();
  expect((await api.call('PATCH', path, { body: { config: { url: 'http://10.0.0.1/b' } } })).status).toBe(200);
  const read = (await api.call('GET', `/workflows/${id}`)).body;
  const again = await api.call('PUT', `/workflows/${id}/graph`, { body: { ...read, dryRun: true } });
  expect(again.body.faults).toContainEqual(expect.objectContaining({ field: `steps.${stepId}` }));
  const enabled = await api.call('PATCH', `/workflows/${id}`, { body: { enabled: true } });
  expect([enabled.status, enabled.body.error.errors[0].field]).toEqual([422, `steps.${stepId}`]);
  const file = { workflows: [{ slug: 'hooks', name: 'Hooks', enabled: true }] };
  const byFile = await api.call('POST', '/project/apply', { body: file });
  expect([byFile.status, byFile.body.error?.errors]).toEqual([
    422,
    [expect.objectContaining({ field: 'workflows.0.steps.call' })],
  ]);
});

it('names of events are trimmed, as they are when events are recorded', async () => {
  const body = { url: 'https://hooks.example/', events: [' order.paid ', 'email.* '] };
  expect((await api.call('POST', '/v1/webhooks', { body })).body.events).toEqual(['order.paid', 'email.*']);
  const wrong = await api.call('POST', '/v1/webhooks', { body: { ...body, events: [' email.opened'] } });
  expect([wrong.status, wrong.body.error.errors[0].field]).toEqual([422, 'events.0']);
});
