import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildContacts } from '../../build/campaigns.ts';
import { buildContact } from '../../build/emails.ts';
import { buildProject, startTestApi, type TestApi, type TestProject } from '../../support/api.ts';

let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  api = await startTestApi();
  project = await buildProject(api.db, 'Listing');
  await buildContacts(api.db, { projectId: project.id, count: 30, data: { plan: 'free' } });
  await buildContact(api.db, { projectId: project.id, email: 'ada@to.test', data: { plan: 'pro' } });
  await buildContact(api.db, { projectId: project.id, email: 'bob@to.test', data: { plan: 'pro' } });
  await buildContacts(api.db, { projectId: api.two.id, count: 5, data: { plan: 'pro' } });
});
afterAll(() => api?.close());

const createFilter = (field: string, value: unknown) => ({
  logic: 'AND',
  groups: [{ filters: [{ field, operator: 'equals', value }] }],
});
const listContacts = (query: Record<string, unknown>, key = project.secretKey) => {
  const texts = Object.entries(query).map(([name, value]) => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ]);
  return api.call('GET', `/contacts?${new URLSearchParams(Object.fromEntries(texts))}`, { key });
};
const listAddresses = ({ body }: { body: { data: { email: string }[] } }) => body.data.map(({ email }) => email);

it('the list has the contacts that match a condition, also together with a part of an address', async () => {
  const pro = await listContacts({ condition: createFilter('data.plan', 'pro') });
  expect([listAddresses(pro), pro.body.total]).toEqual([['bob@to.test', 'ada@to.test'], 2]);
  expect(listAddresses(await listContacts({ condition: createFilter('data.plan', 'pro'), search: 'ADA' }))).toEqual([
    'ada@to.test',
  ]);
  expect((await listContacts({ condition: createFilter('data.plan', 'team') })).body).toMatchObject({
    data: [],
    total: 0,
  });
});

it('a list with a condition is paged by cursor', async () => {
  const seen = new Set<string>();
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await listContacts({
      condition: createFilter('data.plan', 'free'),
      limit: 7,
      ...(cursor && { cursor }),
    });
    for (const email of listAddresses(page)) seen.add(email);
    cursor = page.body.cursor ?? undefined;
    pages += 1;
  } while (cursor);
  expect([seen.size, pages]).toEqual([30, 5]);
});

it('a cursor continues a list with another page size and without the total, but not with another filter', async () => {
  const condition = createFilter('data.plan', 'free');
  const { cursor } = (await listContacts({ condition, limit: 7 })).body;
  const next = await listContacts({ condition, limit: 5, count: false, cursor });
  expect([next.status, next.body.data.length]).toEqual([200, 5]);
  const other = await listContacts({ condition: createFilter('data.plan', 'pro'), limit: 7, cursor });
  expect([other.status, other.body.error.errors[0].field]).toEqual([400, 'cursor']);
  expect(other.body.error.suggestion).toContain('omit the cursor');
});

it('a list with count=false returns the page without the total', async () => {
  const { body } = await listContacts({ count: false, limit: 5 });
  expect([body.data.length, body.total, body.hasMore]).toEqual([5, 0, true]);
});

it('the list refuses an invalid condition, and returns 409 for segments that refer to each other in a cycle', async () => {
  expect((await listContacts({ condition: 'nope' })).status).toBe(400);
  expect((await listContacts({ condition: { logic: 'XOR' } })).status).toBe(400);
  const createSegment = (name: string) =>
    api.call('POST', '/segments', { key: project.secretKey, body: { name, condition: createFilter('email', 'x') } });
  const [one, two] = [(await createSegment('One')).body.id, (await createSegment('Two')).body.id];
  const setMembershipCondition = (id: string, to: string) =>
    api.call('PATCH', `/segments/${id}`, {
      key: project.secretKey,
      body: { condition: { logic: 'AND', groups: [{ filters: [{ field: `segment.${to}`, operator: 'memberOf' }] }] } },
    });
  await setMembershipCondition(one, two);
  const closed = await setMembershipCondition(two, one);
  if (closed.status === 200) {
    const inside = { logic: 'AND', groups: [{ filters: [{ field: `segment.${one}`, operator: 'memberOf' }] }] };
    expect((await listContacts({ condition: inside })).status).toBe(409);
  } else expect(closed.status).toBe(409);
});

it('the list can be limited to subscribed contacts, and to contacts that were created or changed in a time span', async () => {
  const spans = await buildProject(api.db, 'Spans');
  const days = ['2026-01-01', '2026-02-01', '2026-03-01'];
  for (const [n, day] of days.entries()) {
    const at = new Date(`${day}T12:00:00Z`);
    await api.db
      .insertInto('contacts')
      .values({
        id: uuidv7({ msecs: at.getTime() }),
        project_id: spans.id,
        email: `c${n}@to.test`,
        subscribed: n !== 1,
        created_at: at,
        updated_at: new Date(at.getTime() + 10 * 86_400_000),
      } as never)
      .execute();
  }
  const findEmails = async (query: Record<string, unknown>) =>
    listAddresses(await listContacts(query, spans.secretKey));
  expect(await findEmails({ subscribed: true })).toEqual(['c2@to.test', 'c0@to.test']);
  expect(await findEmails({ subscribed: false })).toEqual(['c1@to.test']);
  expect(await findEmails({ createdAfter: '2026-02-01' })).toEqual(['c2@to.test', 'c1@to.test']);
  expect(await findEmails({ createdAfter: '2026-02-01T12:00:00Z' })).toEqual(['c2@to.test', 'c1@to.test']);
  expect(await findEmails({ createdBefore: '2026-02-01T12:00:00Z' })).toEqual(['c0@to.test']);
  expect(await findEmails({ createdAfter: '2026-01-15', createdBefore: '2026-02-15' })).toEqual(['c1@to.test']);
  expect(await findEmails({ updatedAfter: '2026-03-11T12:00:00Z' })).toEqual(['c2@to.test']);
  expect(await findEmails({ subscribed: true, search: 'c0', condition: createFilter('email', 'c0@to.test') })).toEqual([
    'c0@to.test',
  ]);
  const { body } = await listContacts({ subscribed: true }, spans.secretKey);
  expect(body.total).toBe(2);
  const csv = await api.app.request('/v1/contacts/export?subscribed=false', {
    headers: { authorization: `Bearer ${spans.secretKey}` },
  });
  expect((await csv.text()).split('\r\n').filter((line) => line.includes('@'))).toHaveLength(1);
});

it.each([
  ['subscribed', 'yes'],
  ['createdAfter', 'yesterday'],
  ['createdBefore', '2026-02-30'],
  ['updatedAfter', ''],
])('?%s=%s returns 400 and names the parameter', async (name, value) => {
  const { status, body } = await listContacts({ [name]: value });
  expect([status, body.error.code, body.error.errors[0].field]).toEqual([400, 'VALIDATION_ERROR', name]);
});
