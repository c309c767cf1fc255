import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCampaignBody } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { expectOk } from '../build/workflows.ts';
import { type CallResult, startTestApi, type TestApi } from '../support/api.ts';
import { signIn } from '../support/session.ts';

const WINDOW = { from: '22:00', to: '06:00', days: [1, 2, 3, 4, 5], timezone: 'contact' };
const LOCAL = '2030-12-01T09:00';
/**
 * The instant at which the first time zone of the world reaches the local time. It is 14 hours before that time in UTC.
 */
const FIRST = '2030-11-30T19:00:00.000Z';

let api: TestApi;
let owner: Record<string, string>;
beforeAll(async () => {
  api = await startTestApi();
  owner = await signIn(api, api.one);
  await buildDomain(api.db, { projectId: api.one.id, domain: 'sender.test' });
  await expectOk(api.call('POST', '/contacts', { body: { email: 'ada@to.test', subscribed: true } }));
});
afterAll(() => api.close());

const patchProject = (body: object) => api.call('PATCH', '/project', { key: null, headers: owner, body: { ...body } });
const postCampaign = (changes: object) => api.call('POST', '/campaigns', { body: createCampaignBody({ ...changes }) });
const createCampaign = async (changes: object) => (await expectOk(postCampaign(changes))).data;
const sendCampaign = (id: string, body: object = {}) =>
  api.call('POST', `/campaigns/${id}/send`, { body: { ...body } });
const toStatusAndField = ({ status, body }: CallResult) => [status, body.error?.errors?.[0]?.field];

it('a project is in UTC without a sending window by default, and stores both as they were written', async () => {
  const readProject = () => expectOk(api.call('GET', '/project', { key: null, headers: owner }));
  expect(await readProject()).toMatchObject({ timezone: 'UTC', sendingWindow: null });
  const set = { timezone: 'Asia/Kolkata', sendingWindow: WINDOW };
  expect(await expectOk(patchProject(set))).toMatchObject(set);
  await patchProject({ name: 'Shop' });
  expect(await readProject()).toMatchObject(set);
  expect(await expectOk(patchProject({ sendingWindow: { from: '08:00', to: '21:00' } }))).toMatchObject({
    sendingWindow: { from: '08:00', to: '21:00', days: [1, 2, 3, 4, 5, 6, 7] },
  });
  expect(await expectOk(patchProject({ sendingWindow: null, timezone: 'UTC' }))).toMatchObject({ sendingWindow: null });
});

it.each([
  [{ timezone: 'Mars/Olympus' }, 'timezone'],
  [{ timezone: '+02:00' }, 'timezone'],
  [{ timezone: null }, 'timezone'],
  [{ sendingWindow: { ...WINDOW, to: '22:00' } }, 'sendingWindow.to'],
  [{ sendingWindow: { ...WINDOW, days: [0] } }, 'sendingWindow.days.0'],
  [{ sendingWindow: { ...WINDOW, days: [] } }, 'sendingWindow.days'],
  [{ sendingWindow: { to: '21:00' } }, 'sendingWindow.from'],
])('a project with %j returns 422 at %s', async (body, field) => {
  expect(toStatusAndField(await patchProject(body))).toEqual([422, field]);
});

it('a campaign stores its sending window, its local time and its rule for late recipients', async () => {
  const plain = await createCampaign({});
  expect(plain).toMatchObject({ sendAtLocal: null, latePolicy: 'SEND', nextOpening: null });
  expect(plain).not.toHaveProperty('sendingWindow');
  const timed = { sendAtLocal: LOCAL, latePolicy: 'SKIP', sendingWindow: WINDOW };
  const { id } = await createCampaign(timed);
  expect(await expectOk(api.call('GET', `/campaigns/${id}`))).toMatchObject(timed);
  expect(await expectOk(api.call('PUT', `/campaigns/${id}`, { body: { subject: 'S' } }))).toMatchObject(timed);
  const copy = await expectOk(api.call('POST', `/campaigns/${id}/duplicate`));
  expect(copy.data).toMatchObject({ ...timed, sendAtLocal: null });
  const cleared = await expectOk(
    api.call('PUT', `/campaigns/${id}`, { body: { sendingWindow: null, sendAtLocal: null } }),
  );
  expect(cleared).toMatchObject({ sendingWindow: null, sendAtLocal: null, latePolicy: 'SKIP' });
  const { campaigns } = await expectOk(api.call('GET', '/campaigns'));
  expect(campaigns.find((campaign: { id: string }) => campaign.id === id)).toMatchObject({ sendingWindow: null });
});

it.each([
  [{ sendAtLocal: '2030-12-01T09:00Z' }, 'sendAtLocal'],
  [{ sendAtLocal: '2030-12-01 09:00' }, 'sendAtLocal'],
  [{ sendAtLocal: '2030-02-30T09:00' }, 'sendAtLocal'],
  [{ latePolicy: 'LATER' }, 'latePolicy'],
  [{ sendingWindow: { ...WINDOW, from: '06:00' } }, 'sendingWindow.to'],
  [{ sendingWindow: { from: '8', to: '9' } }, 'sendingWindow.from'],
  [{ sendingWindow: 'mine' }, 'sendingWindow'],
])('a campaign with %j returns 422 at %s', async (body, field) => {
  expect(toStatusAndField(await postCampaign(body))).toEqual([422, field]);
});

it('a local hour can be set in the campaign or when it is sent, and not together with a schedule', async () => {
  const { id } = await createCampaign({ sendAtLocal: LOCAL });
  const scheduledFor = '2030-01-01T09:00:00Z';
  expect(toStatusAndField(await sendCampaign(id, { scheduledFor }))).toEqual([422, 'scheduledFor']);
  const sent = await expectOk(sendCampaign(id));
  expect(sent.data).toMatchObject({ status: 'SCHEDULED', scheduledAt: FIRST, scheduledFor: null, sendAtLocal: LOCAL });
  expect(toStatusAndField(await api.call('PUT', `/campaigns/${id}`, { body: { scheduledFor } }))).toEqual([
    422,
    'scheduledFor',
  ]);
  const moved = await expectOk(api.call('PUT', `/campaigns/${id}`, { body: { scheduledFor, sendAtLocal: null } }));
  expect(moved).toMatchObject({ scheduledFor: '2030-01-01T09:00:00.000Z', sendAtLocal: null });
  const other = await createCampaign({});
  const both = { sendAtLocal: LOCAL, scheduledFor };
  expect(toStatusAndField(await sendCampaign(other.id, both))).toEqual([422, 'scheduledFor']);
  const local = await expectOk(sendCampaign(other.id, { sendAtLocal: LOCAL, latePolicy: 'SKIP' }));
  expect(local.data).toMatchObject({ status: 'SCHEDULED', scheduledAt: FIRST, sendAtLocal: LOCAL, latePolicy: 'SKIP' });
});
