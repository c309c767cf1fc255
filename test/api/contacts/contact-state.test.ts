import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildContact } from '../../build/emails.ts';
import { buildProject, startTestApi, type TestApi, type TestProject } from '../../support/api.ts';

let api: TestApi;
let project: TestProject;
let ada: string;

beforeAll(async () => {
  api = await startTestApi();
  project = await buildProject(api.db, 'Standing');
  ada = await buildContact(api.db, { projectId: project.id, email: 'ada@to.test', data: { plan: 'pro' } });
});
afterAll(() => api?.close());

const call = (method: string, path: string, body?: unknown, key = project.secretKey) =>
  api.call(method, path, { key, ...(body !== undefined && { body }) });

it('the subscription of a contact names who changed it and who suppressed its address', async () => {
  expect((await call('GET', `/contacts/${ada}/subscription`)).body).toEqual({
    subscribed: true,
    subscription: 'subscribed',
    smsSubscribed: true,
    changes: [],
    suppressions: [],
  });
  await call('POST', '/suppressions', { email: 'ada@to.test', reason: 'unsubscribe' });
  const { status, body } = await call('GET', `/v1/contacts/${ada}/subscription`);
  expect(status).toBe(200);
  const by = { actor: expect.stringMatching(/^key:/), actorName: expect.any(String) };
  expect(body).toMatchObject({
    subscribed: false,
    subscription: 'unsubscribed',
    changes: [{ ...by, subscribed: false, reason: 'request', at: expect.any(String) }],
    suppressions: [{ ...by, email: 'ada@to.test', reason: 'unsubscribe', source: 'api' }],
  });
});

it('the suppression list can be filtered by one address', async () => {
  await call('POST', '/suppressions', { email: 'gone@to.test' });
  const { body } = await call('GET', '/suppressions?email=GONE%40to.test');
  expect(body).toMatchObject({ total: 1, data: [{ email: 'gone@to.test', reason: 'manual' }] });
  expect((await call('GET', '/suppressions?email=other%40to.test')).body).toMatchObject({ total: 0, data: [] });
  expect((await call('GET', '/suppressions?email=gone%40to.test', undefined, api.two.secretKey)).body.total).toBe(0);
});

it('the segments of a contact are the segments that it is in now', async () => {
  const createPlanFilter = (plan: string) => ({
    logic: 'AND',
    groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: plan }] }],
  });
  const pro = (await call('POST', '/segments', { name: 'Pro', condition: createPlanFilter('pro') })).body;
  await call('POST', '/segments', { name: 'Free', condition: createPlanFilter('free') });
  const hand = (await call('POST', '/segments', { name: 'By hand', type: 'STATIC' })).body;
  await call('POST', `/segments/${hand.id}/members`, { emails: ['ada@to.test'] });
  expect((await call('GET', `/contacts/${ada}/segments`)).body).toEqual({
    data: [
      { id: hand.id, name: 'By hand', slug: 'by-hand', type: 'STATIC', memberSince: expect.stringMatching(/Z$/) },
      { id: pro.id, name: 'Pro', slug: 'pro', type: 'DYNAMIC', memberSince: null },
    ],
  });
});

it('the executions of a contact are listed with their current step', async () => {
  const workflow = (await call('POST', '/workflows', { name: 'Welcome', triggerType: 'MANUAL' })).body;
  const step = await call('POST', `/workflows/${workflow.id}/steps`, {
    type: 'DELAY',
    name: 'A day later',
    config: { amount: 1, unit: 'days' },
  });
  expect(step.status).toBe(201);
  await call('PATCH', `/workflows/${workflow.id}`, { enabled: true, entryStepId: step.body.id });
  const started = await call('POST', `/workflows/${workflow.id}/executions`, { contactId: ada });
  expect(started.status).toBe(201);
  const { body } = await call('GET', `/contacts/${ada}/executions?active=true`);
  expect(body).toMatchObject({
    total: 1,
    hasMore: false,
    cursor: null,
    data: [
      { id: started.body.id, workflowName: 'Welcome', stepName: 'A day later', stepType: 'DELAY', completedAt: null },
    ],
  });
  expect((await call('GET', `/contacts/${ada}/executions?active=false`)).body.data).toEqual([]);
});

it.each(['subscription', 'segments', 'executions'])("another project's contact returns 404: %s", async (what) => {
  expect((await call('GET', `/contacts/${ada}/${what}`, undefined, api.two.secretKey)).status).toBe(404);
  expect((await call('GET', `/contacts/${ada}/${what}`, undefined, project.bareKey)).status).toBe(403);
});
