import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildContacts } from '../../build/campaigns.ts';
import { buildContact } from '../../build/emails.ts';
import { buildProject, startTestApi, type TestApi, type TestProject } from '../../support/api.ts';

let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

const call = (path: string, key = project.secretKey) => api.call('GET', path, { key });
const splitLines = (text: string) => text.split('\r\n').slice(0, -1);

it('the export has all contacts, in the columns that an import accepts, with formulas as plain text', async () => {
  project = await buildProject(api.db, 'Export');
  await buildContact(api.db, {
    projectId: project.id,
    email: 'ada@to.test',
    data: { plan: '=1+1', n: -3, tags: ['a'] },
  });
  await buildContact(api.db, {
    projectId: project.id,
    email: '+bob@to.test',
    subscribed: false,
    data: { city: 'Köln, "Süd"' },
  });
  await buildContact(api.db, { projectId: api.two.id, email: 'eve@to.test', data: { secret: 1 } });
  const { status, headers, body } = await call('/v1/contacts/export');
  expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  expect(splitLines(body)).toEqual([
    'email,subscribed,city,n,plan,tags',
    `ada@to.test,true,,-3,'=1+1,"[""a""]"`,
    `'+bob@to.test,false,"Köln, ""Süd""",,,`,
  ]);
});

it('the export reads the contacts of a segment or a condition page by page', async () => {
  project = await buildProject(api.db, 'Many');
  await buildContacts(api.db, { projectId: project.id, count: 12_000, data: { plan: 'free' } });
  await buildContacts(api.db, {
    projectId: project.id,
    count: 5,
    localPart: 'p',
    data: { plan: 'pro', extra: 'x'.repeat(60_000) },
  });
  expect(splitLines((await call('/contacts/export')).body)).toHaveLength(12_006);
  const condition = { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] };
  const byCondition = await call(`/contacts/export?condition=${encodeURIComponent(JSON.stringify(condition))}`);
  expect(splitLines(byCondition.body)).toHaveLength(6);
  expect(splitLines((await call('/contacts/export?search=P3%40')).body)).toHaveLength(2);
  const created = await api.call('POST', '/segments', { key: project.secretKey, body: { name: 'Pro', condition } });
  const ofSegment = await call(`/contacts/export?segmentId=${created.body.id}`);
  expect(ofSegment.body).toBe(byCondition.body);
  expect((await call(`/contacts/export?segmentId=${created.body.id}`, api.two.secretKey)).status).toBe(404);
  const { body: document } = await api.call('GET', '/openapi.json?paths=v1');
  expect(document.paths['/v1/contacts/export'].get.responses).toHaveProperty('404');
  const both = `segmentId=${created.body.id}&condition=${encodeURIComponent(JSON.stringify(condition))}`;
  expect((await call(`/contacts/export?${both}`)).status).toBe(400);
});

it('the export refuses an invalid condition, and a role that may not see contacts', async () => {
  expect((await call('/contacts/export?condition=nope')).status).toBe(400);
  expect((await call(`/contacts/export?condition=${encodeURIComponent('{"logic":"XOR"}')}`)).status).toBe(400);
  expect((await call('/contacts/export', project.bareKey)).status).toBe(403);
});
