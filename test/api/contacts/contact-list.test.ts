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

const equals = (field: string, value: unknown) => ({
  logic: 'AND',
  groups: [{ filters: [{ field, operator: 'equals', value }] }],
});
const list = (query: Record<string, unknown>, key = project.secretKey) => {
  const texts = Object.entries(query).map(([name, value]) => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ]);
  return api.call('GET', `/contacts?${new URLSearchParams(Object.fromEntries(texts))}`, { key });
};
const emails = ({ body }: { body: { data: { email: string }[] } }) => body.data.map(({ email }) => email);

it('a list has those for whom a condition holds, and the part of the address with it', async () => {
  const pro = await list({ condition: equals('data.plan', 'pro') });
  expect([emails(pro), pro.body.total]).toEqual([['bob@to.test', 'ada@to.test'], 2]);
  expect(emails(await list({ condition: equals('data.plan', 'pro'), search: 'ADA' }))).toEqual(['ada@to.test']);
  expect((await list({ condition: equals('data.plan', 'team') })).body).toMatchObject({ data: [], total: 0 });
});

it('a list with a condition goes on by its cursor', async () => {
  const seen = new Set<string>();
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await list({ condition: equals('data.plan', 'free'), limit: 7, ...(cursor && { cursor }) });
    for (const email of emails(page)) seen.add(email);
    cursor = page.body.cursor ?? undefined;
    pages += 1;
  } while (cursor);
  expect([seen.size, pages]).toEqual([30, 5]);
});

it('count=false brings the page without its total', async () => {
  const { body } = await list({ count: false, limit: 5 });
  expect([body.data.length, body.total, body.hasMore]).toEqual([5, 0, true]);
});

it('a condition that is none is refused, and one with segments in a circle is 409', async () => {
  expect((await list({ condition: 'nope' })).status).toBe(400);
  expect((await list({ condition: { logic: 'XOR' } })).status).toBe(400);
  const create = (name: string) =>
    api.call('POST', '/segments', { key: project.secretKey, body: { name, condition: equals('email', 'x') } });
  const [one, two] = [(await create('One')).body.id, (await create('Two')).body.id];
  const refer = (id: string, to: string) =>
    api.call('PATCH', `/segments/${id}`, {
      key: project.secretKey,
      body: { condition: { logic: 'AND', groups: [{ filters: [{ field: `segment.${to}`, operator: 'memberOf' }] }] } },
    });
  await refer(one, two);
  const closed = await refer(two, one);
  if (closed.status === 200) {
    const inside = { logic: 'AND', groups: [{ filters: [{ field: `segment.${one}`, operator: 'memberOf' }] }] };
    expect((await list({ condition: inside })).status).toBe(409);
  } else expect(closed.status).toBe(409);
});
