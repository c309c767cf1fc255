import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildContacts } from '../../build/campaigns.ts';
import { buildContact } from '../../build/emails.ts';
import { buildProject, startTestApi, type TestApi, type TestProject } from '../../support/api.ts';

let api: TestApi;
let project: TestProject;
let ada: string;

beforeAll(async () => {
  api = await startTestApi();
  project = await buildProject(api.db, 'Looking');
  await buildContacts(api.db, { projectId: project.id, count: 30, data: { plan: 'free' } });
  const data = { plan: 'pro', address: { city: 'Berlin' } };
  ada = await buildContact(api.db, { projectId: project.id, email: 'ada@to.test', data });
  await buildContacts(api.db, { projectId: api.two.id, count: 5, data: { plan: 'pro' } });
  const event = { event: 'purchase', email: 'ada@to.test' };
  const tracked = await call('POST', '/v1/track', event);
  expect(tracked.status).toBe(200);
});
afterAll(() => api?.close());

const call = (method: string, path: string, body?: unknown) =>
  api.call(method, path, { key: project.secretKey, ...(body !== undefined && { body }) });
const createFilter = (filter: object) => ({ logic: 'AND', groups: [{ filters: [filter] }] });

it('a preview counts the contacts that match a condition, and shows the newest ten', async () => {
  const free = await call('POST', '/segments/preview', {
    condition: createFilter({ field: 'data.plan', operator: 'equals', value: 'free' }),
  });
  expect([free.status, free.body.count, free.body.sample.length]).toEqual([200, 30, 10]);
  const pro = await call('POST', '/v1/segments/preview', {
    filters: { operator: 'AND', conditions: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] },
  });
  expect(pro.body).toMatchObject({ count: 1, sample: [{ id: ada, email: 'ada@to.test', data: { plan: 'pro' } }] });
  const none = await call('POST', '/segments/preview', {
    condition: createFilter({ field: 'email', operator: 'equals', value: 'x' }),
  });
  expect(none.body).toEqual({ count: 0, sample: [] });
  const { body } = await call('GET', '/segments');
  expect(body).toEqual([]);
});

it('a preview without a condition, or with an invalid one, returns 422', async () => {
  expect((await call('POST', '/segments/preview', {})).status).toBe(422);
  const bad = await call('POST', '/segments/preview', {
    condition: createFilter({ field: 'nope', operator: 'equals', value: 1 }),
  });
  expect([bad.status, bad.body.error.errors[0].field]).toEqual([422, 'condition.groups.0.filters.0.field']);
});

it("the explanation shows each filter of a segment with the contact's value, and the result of the segment's AND or OR", async () => {
  const member = await call('POST', '/segments', { name: 'Members', type: 'STATIC' });
  await call('POST', `/segments/${member.body.id}/members`, { emails: ['ada@to.test'] });
  const condition = {
    logic: 'OR',
    groups: [
      {
        filters: [
          { field: 'data.plan', operator: 'equals', value: 'pro' },
          { field: 'data.age', operator: 'greaterThan', value: 30 },
        ],
      },
      {
        filters: [
          { field: 'event.purchase', operator: 'triggeredWithin', value: 1, unit: 'days' },
          { field: `segment.${member.body.id}`, operator: 'memberOf' },
        ],
        conditions: {
          logic: 'AND',
          groups: [
            {
              filters: [
                { field: 'data.address.city', operator: 'notEquals', value: 'Paris' },
                { field: 'email.opened', operator: 'notTriggered' },
                { field: 'subscribed', operator: 'equals', value: true },
              ],
            },
          ],
        },
      },
    ],
  };
  const segment = await call('POST', '/segments', { name: 'Buyers', condition });
  const { status, body } = await call('GET', `/segments/${segment.body.id}/explain?contactId=${ada}`);
  expect([status, body.holds, body.member, body.type]).toEqual([200, true, null, 'DYNAMIC']);
  const instant = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(body.filters.map((f: Record<string, unknown>) => [f.path, f.field, f.contactValue, f.holds])).toEqual([
    ['groups.0.filters.0', 'data.plan', 'pro', true],
    ['groups.0.filters.1', 'data.age', null, false],
    ['groups.1.filters.0', 'event.purchase', instant, true],
    ['groups.1.filters.1', `segment.${member.body.id}`, true, true],
    ['groups.1.conditions.groups.0.filters.0', 'data.address.city', 'Berlin', true],
    ['groups.1.conditions.groups.0.filters.1', 'email.opened', null, true],
    ['groups.1.conditions.groups.0.filters.2', 'subscribed', true, true],
  ]);
  const contacts = await call('GET', `/segments/${segment.body.id}/contacts`);
  expect(contacts.body.total).toBe(1);
});

it('the explanation of a STATIC segment shows the membership of the contact', async () => {
  const segment = await call('POST', '/segments', { name: 'By hand', type: 'STATIC' });
  const path = `/segments/${segment.body.id}/explain?contactId=${ada}`;
  const field = `segment.${segment.body.id}`;
  expect((await call('GET', path)).body).toMatchObject({
    holds: false,
    member: false,
    type: 'STATIC',
    filters: [{ field, operator: 'memberOf', contactValue: false, holds: false }],
  });
  await call('POST', `/segments/${segment.body.id}/members`, { emails: ['ada@to.test'] });
  expect((await call('GET', path)).body).toMatchObject({ holds: true, member: true, filters: [{ holds: true }] });
});

it("another project's contact or segment returns 404, and the contact is required", async () => {
  const segment = await call('POST', '/segments', { name: 'Mine', type: 'STATIC' });
  const theirs = await buildContact(api.db, { projectId: api.two.id });
  const path = `/segments/${segment.body.id}/explain`;
  expect((await call('GET', `${path}?contactId=${theirs}`)).status).toBe(404);
  expect((await api.call('GET', `${path}?contactId=${ada}`, { key: api.two.secretKey })).status).toBe(404);
  expect((await call('GET', path)).status).toBe(400);
  expect((await api.call('GET', `${path}?contactId=${ada}`, { key: project.bareKey })).status).toBe(403);
});

describe('the history of a tracked segment', () => {
  it('lists entries and exits, newest first and page by page, also from before the segment was renamed', async () => {
    const condition = createFilter({ field: 'data.tier', operator: 'equals', value: 'gold' });
    const created = await call('POST', '/segments', { name: 'Gold', condition, trackMembership: true });
    const path = `/segments/${created.body.id}`;
    expect((await call('GET', `${path}/history`)).body).toEqual({ data: [], cursor: null, hasMore: false, total: 0 });
    const bo = (await call('POST', '/contacts', { email: 'bo@to.test', data: { tier: 'gold' } })).body.id;
    await call('POST', `${path}/compute`);
    await call('PATCH', path, { name: 'Golden' });
    await call('PATCH', `/contacts/${bo}`, { data: { tier: 'silver' } });
    await call('POST', `${path}/compute`);
    const all = await call('GET', `/v1${path}/history`);
    const change = { id: expect.any(String), contactId: bo, email: 'bo@to.test', at: expect.any(String) };
    const [exit, entry] = [
      { ...change, change: 'exit' },
      { ...change, change: 'entry' },
    ];
    expect(all.body).toMatchObject({ data: [exit, entry], hasMore: false, total: 2 });
    const first = await call('GET', `${path}/history?limit=1`);
    expect(first.body).toMatchObject({ data: [exit], hasMore: true, total: 2 });
    const second = await call('GET', `${path}/history?limit=1&cursor=${first.body.cursor}`);
    expect(second.body).toMatchObject({ data: [entry], hasMore: false, total: 0 });
  });

  it('contains only events of the segment, also if another segment’s event has its id in its data', async () => {
    const condition = createFilter({ field: 'data.tier', operator: 'equals', value: 'none' });
    const { body } = await call('POST', '/segments', { name: 'Own', condition, trackMembership: true });
    const forged = { event: 'segment.thing', email: 'ada@to.test', data: { segmentId: body.id } };
    expect((await call('POST', '/v1/track', forged)).status).toBe(200);
    expect((await call('GET', `/segments/${body.id}/history`)).body.data).toEqual([]);
  });
});

describe('the history of a static segment', () => {
  it('lists added and removed contacts with the user who did it, but not changes without effect', async () => {
    const { body: segment } = await call('POST', '/segments', { name: 'A list', type: 'STATIC' });
    const { body: contact } = await call('POST', '/contacts', { email: 'hand@to.test' });
    const members = `/segments/${segment.id}/members`;
    for (const _ of [1, 2]) await call('POST', members, { emails: ['hand@to.test', 'nobody@to.test'] });
    for (const _ of [1, 2]) await call('DELETE', members, { emails: ['hand@to.test'] });
    const { body } = await call('GET', `/segments/${segment.id}/history`);
    const change = { contactId: contact.id, email: 'hand@to.test', actor: expect.stringMatching(/^key:/) };
    expect(body).toMatchObject({
      data: [
        { ...change, change: 'exit' },
        { ...change, change: 'entry' },
      ],
      total: 2,
    });
    expect(body.data[0].actorName).toEqual(expect.any(String));
    const first = (await call('GET', `/segments/${segment.id}/history?limit=1`)).body;
    const second = (await call('GET', `/segments/${segment.id}/history?limit=1&cursor=${first.cursor}`)).body;
    expect([first.data[0].id, second.data[0].id]).toEqual(body.data.map(({ id }: { id: string }) => id));
    await call('DELETE', `/contacts/${contact.id}`);
    const { data } = (await call('GET', `/segments/${segment.id}/history`)).body;
    expect(data).toMatchObject([{ contactId: null, email: null }, { contactId: null }]);
  });
});

describe('the usage of a segment', () => {
  it('names the segments, unfinished campaigns and workflows that use it', async () => {
    const used = await call('POST', '/segments', { name: 'Used', type: 'STATIC' });
    const { id } = used.body;
    const member = { field: `segment.${id}`, operator: 'memberOf' };
    const over = await call('POST', '/segments', { name: 'Over', condition: createFilter(member) });
    const email = { subject: 's', body: '<p>b</p>', from_email: 'a@from.test' };
    const campaign = await api.db
      .insertInto('campaigns')
      .values({ project_id: project.id, name: 'To it', ...email, audience_type: 'SEGMENT', segment_id: id })
      .returning('id')
      .executeTakeFirstOrThrow();
    const started = await call('POST', '/workflows', { name: 'Starts', eventName: 'segment.used.entry' });
    const asking = await call('POST', '/workflows', { name: 'Asks', eventName: 'signed-up' });
    const step = { name: 'Is it in?', type: 'CONDITION', config: member };
    const added = await call('POST', `/workflows/${asking.body.id}/steps`, step);
    expect(added.status, JSON.stringify(added.body)).toBe(201);
    const { body } = await call('GET', `/segments/${id}/usage`);
    expect(body).toEqual({
      usedInSegments: [{ id: over.body.id, name: 'Over' }],
      usedInCampaigns: [{ id: campaign.id, name: 'To it', status: 'DRAFT' }],
      usedInWorkflows: expect.arrayContaining([
        { id: started.body.id, name: 'Starts' },
        { id: asking.body.id, name: 'Asks' },
      ]),
      canDelete: true,
    });
  });
});
