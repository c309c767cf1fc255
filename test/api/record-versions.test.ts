import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildContacts, createCampaignBody } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

const STALE = '2020-01-01T00:00:00.000Z';
const FILTERS = { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] };

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id, domain: 'sender.test' });
  await buildContacts(api.db, { projectId: api.one.id, count: 2 });
});
afterAll(() => api?.close());

let count = 0;
/** Every type of record with a version, and how to create, change and list records of the type. */
const RECORDS = [
  { kind: 'campaigns', method: 'PUT', create: () => createCampaignBody(), list: (body: Lists) => body.campaigns },
  {
    kind: 'templates',
    method: 'PATCH',
    create: () => ({ name: 'T', subject: 's', body: '<p>b</p>', type: 'TRANSACTIONAL' }),
    list: (body: Lists) => body.templates,
  },
  {
    kind: 'segments',
    method: 'PATCH',
    create: () => ({ name: `S ${++count}`, filters: FILTERS }),
    list: (body: Lists) => body,
  },
  {
    kind: 'workflows',
    method: 'PATCH',
    create: () => ({ name: 'W', eventName: 'signup' }),
    list: (body: Lists) => body.workflows,
  },
] as const;

// biome-ignore lint/suspicious/noExplicitAny: responses of every shape
type Lists = any;

async function createRecord({ kind, create }: (typeof RECORDS)[number]) {
  const response = await api.call('POST', `/${kind}`, { body: create() });
  const record = response.body.data ?? response.body;
  expect(response.status, JSON.stringify(response.body)).toBeLessThan(300);
  return { record, path: `/${kind}/${record.id}`, etag: response.headers.get('etag') ?? '' };
}

describe.each(RECORDS)('versions of $kind', (spec) => {
  const writeRecord = (path: string, body: object, headers: Record<string, string> = {}) =>
    api.call(spec.method, path, { body, headers });

  it('has the same ETag for the same version, and another one after a change', async () => {
    const { path, etag, record } = await createRecord(spec);
    expect(etag).toMatch(/^"[\w-]+"$/);
    expect((await api.call('GET', `/v1${path}`)).headers.get('etag')).toBe(etag);
    const changed = await writeRecord(path, { name: `Other ${++count}` }, { 'If-Match': etag });
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(etag);
    expect((await api.call('GET', path)).headers.get('etag')).toBe(changed.headers.get('etag'));
    const listed = spec.list((await api.call('GET', `/${spec.kind}`)).body);
    const inList = listed.find(({ id }: { id: string }) => id === record.id);
    expect((await writeRecord(path, { name: `From list ${++count}`, updatedAt: inList.updatedAt })).status).toBe(200);
  });

  it('refuses a write based on an older version, by If-Match and by updatedAt, and changes nothing', async () => {
    const { path, etag, record } = await createRecord(spec);
    const current = await writeRecord(path, { name: `Theirs ${++count}` });
    const { updatedAt, name } = current.body;
    const refused = await Promise.all([
      writeRecord(path, { name: 'Mine' }, { 'If-Match': etag }),
      writeRecord(path, { name: 'Mine' }, { 'If-Match': 'W/"nonsense", unquoted' }),
      writeRecord(path, { name: 'Mine' }, { 'If-Match': '"*"' }),
      writeRecord(path, { name: 'Mine' }, { 'If-Match': `"a,${etag.slice(1)}` }),
      writeRecord(path, { name: 'Mine' }, { 'If-Match': '""' }),
      writeRecord(path, { name: 'Mine', updatedAt: record.updatedAt }),
      writeRecord(path, { name: 'Mine', updatedAt: STALE }, { 'If-Match': '*' }),
      api.call('DELETE', path, { headers: { 'If-Match': etag } }),
    ]);
    for (const response of refused) {
      expect(response).toMatchObject({
        status: 409,
        body: { error: { code: 'CONFLICT', details: { updatedAt, etag: current.headers.get('etag') } } },
      });
      expect(response.body.error.suggestion).toContain('merge');
    }
    expect((await api.call('GET', path)).body).toMatchObject({ name, updatedAt });
  });

  it('accepts the current version, `*`, weak tags and no version', async () => {
    const { path, record } = await createRecord(spec);
    const first = await writeRecord(path, { name: `A ${++count}`, updatedAt: record.updatedAt });
    const etag = first.headers.get('etag') ?? '';
    expect((await writeRecord(path, { name: `B ${++count}` }, { 'If-Match': `"x",, W/${etag} , "y,z"` })).status).toBe(
      200,
    );
    expect((await writeRecord(path, { name: `C ${++count}` }, { 'If-Match': '*' })).status).toBe(200);
    const last = await writeRecord(path, { name: `D ${++count}` });
    expect(last.status).toBe(200);
    const gone = await api.call('DELETE', path, { headers: { 'If-Match': last.headers.get('etag') ?? '' } });
    expect(gone.status).toBe(204);
    expect((await writeRecord(path, { name: 'E' }, { 'If-Match': '*' })).status).toBe(404);
  });

  it('accepts one of many writes based on the same version', async () => {
    const { path, etag } = await createRecord(spec);
    const responses = await Promise.all(
      Array.from({ length: 6 }, (_, i) => writeRecord(path, { name: `Race ${++count} ${i}` }, { 'If-Match': etag })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
  });

  it('refuses an invalid version, and names the header or field', async () => {
    const { path } = await createRecord(spec);
    const bad = await writeRecord(path, { updatedAt: 'yesterday' });
    expect(bad).toMatchObject({ status: 422, body: { error: { errors: [{ field: 'updatedAt' }] } } });
    for (const unreadable of [' ', ',', '"open', '*, "x"', 'W/*', '"a" "b"'])
      expect(await writeRecord(path, { name: 'x' }, { 'If-Match': unreadable })).toMatchObject({ status: 400 });
  });

  it('shows nothing of another project', async () => {
    const { path, etag } = await createRecord(spec);
    for (const ifMatch of [etag, '"other"', '*']) {
      const headers = { 'If-Match': ifMatch };
      const response = await api.call(spec.method, path, { key: api.two.secretKey, body: { name: 'x' }, headers });
      expect(response.status).toBe(404);
      expect((await api.call('DELETE', path, { key: api.two.secretKey, headers })).status).toBe(404);
    }
  });
});

describe('the version of a workflow', () => {
  const DAY = { type: 'DELAY', config: { amount: 1, unit: 'days' } };

  it('changes with its steps and transitions, whose writes accept it too', async () => {
    const { path, etag } = await createRecord(RECORDS[3]);
    const call = (method: string, below: string, ifMatch: string, body?: object) =>
      api.call(method, path + below, { headers: { 'If-Match': ifMatch }, ...(body && { body }) });
    const first = await call('POST', '/steps', etag, DAY);
    expect(first.status).toBe(201);
    const tags = [etag, first.headers.get('etag') ?? ''];
    const getLastTag = () => tags.at(-1) ?? '';
    expect((await call('POST', '/steps', etag, DAY)).status).toBe(409);
    const second = await call('POST', '/steps', getLastTag(), { type: 'EXIT' });
    tags.push(second.headers.get('etag') ?? '');
    const between = { fromStepId: first.body.id, toStepId: second.body.id };
    expect((await call('POST', '/transitions', etag, between)).status).toBe(409);
    const drawn = await call('POST', '/transitions', getLastTag(), between);
    expect(drawn.status).toBe(201);
    tags.push(drawn.headers.get('etag') ?? '');
    const changed = await call('PATCH', `/steps/${first.body.id}`, getLastTag(), { name: 'Pause' });
    expect(changed.status).toBe(200);
    tags.push(changed.headers.get('etag') ?? '');
    expect((await call('PATCH', `/steps/${first.body.id}`, etag, { name: 'Mine' })).status).toBe(409);
    expect((await call('DELETE', `/transitions/${drawn.body.id}`, etag)).status).toBe(409);
    expect((await call('DELETE', `/steps/${second.body.id}`, etag)).status).toBe(409);
    const undrawn = await call('DELETE', `/transitions/${drawn.body.id}`, getLastTag());
    expect(undrawn.status).toBe(204);
    tags.push(undrawn.headers.get('etag') ?? '');
    const gone = await call('DELETE', `/steps/${second.body.id}`, getLastTag());
    tags.push(gone.headers.get('etag') ?? '');
    expect(new Set(tags).size).toBe(7);
    const now = await api.call('GET', path);
    expect(now.headers.get('etag')).toBe(getLastTag());
    expect(now.body.steps).toMatchObject([{ name: 'Pause' }]);
  });

  it('is compared with updatedAt of the step, or of the workflow', async () => {
    const { path } = await createRecord(RECORDS[3]);
    const step = (await api.call('POST', `${path}/steps`, { body: DAY })).body;
    const patchStep = (body: object) => api.call('PATCH', `${path}/steps/${step.id}`, { body });
    const mine = await patchStep({ name: 'A', updatedAt: step.updatedAt });
    expect(mine.status).toBe(200);
    expect((await patchStep({ name: 'B', updatedAt: step.updatedAt })).status).toBe(409);
    await api.call('PATCH', path, { body: { description: 'else' } });
    expect((await patchStep({ name: 'C', updatedAt: mine.body.updatedAt })).status).toBe(200);
    const { updatedAt } = (await api.call('GET', path)).body;
    expect((await patchStep({ name: 'D', updatedAt })).status).toBe(200);
  });

  it('is checked for a whole graph too, if the graph has no version', async () => {
    const { path, etag } = await createRecord(RECORDS[3]);
    const graph = { entryStepId: 'a', steps: [{ id: 'a', ...DAY }], transitions: [] };
    const saveGraph = (body: object, headers = {}) => api.call('PUT', `${path}/graph`, { body, headers });
    const saved = await saveGraph(graph, { 'If-Match': etag });
    expect(saved.status).toBe(200);
    expect((await saveGraph(graph, { 'If-Match': etag })).status).toBe(409);
    expect((await saveGraph({ ...graph, updatedAt: STALE })).status).toBe(409);
    const stale = await saveGraph({ ...graph, version: 'older' });
    expect(stale.body.error.details).toEqual({
      version: saved.body.workflow.version,
      updatedAt: saved.body.workflow.updatedAt,
      etag: saved.headers.get('etag'),
    });
    expect((await saveGraph(graph)).status).toBe(200);
  });
});

describe('the version of a campaign', () => {
  it('does not change while it is sent, and is checked when it is sent', async () => {
    const { path, etag, record } = await createRecord(RECORDS[0]);
    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
    const send = (ifMatch: string) =>
      api.call('POST', `${path}/send`, { body: { scheduledFor }, headers: { 'If-Match': ifMatch } });
    expect((await send('"other"')).status).toBe(409);
    expect((await send(etag)).headers.get('etag')).toBe(etag);
    await api.call('POST', `${path}/cancel`);
    await sql`UPDATE campaigns SET status = 'SENT', updated_at = now() + interval '1 minute' WHERE id = ${record.id}`.execute(
      api.db,
    );
    const sent = await api.call('GET', path);
    expect(sent.headers.get('etag')).toBe(etag);
    expect(sent.body.updatedAt).toBe(record.updatedAt);
  });

  it('is checked by pause, resume, cancel, winner and retry, and changed by none of them', async () => {
    const { path, etag, record } = await createRecord(RECORDS[0]);
    const setStatus = (status: string) =>
      sql`UPDATE campaigns SET status = ${status} WHERE id = ${record.id}`.execute(api.db);
    const performAction = (action: string, ifMatch: string, body?: object) =>
      api.call('POST', `${path}/${action}`, { headers: { 'If-Match': ifMatch }, ...(body && { body }) });
    const readState = async () => {
      const { status, updatedAt } = (await api.call('GET', path)).body;
      return { status, updatedAt };
    };
    await setStatus('SENDING');
    for (const [action, body] of [
      ['pause'],
      ['resume'],
      ['cancel'],
      ['winner', { variant: 'A' }],
      ['retry', {}],
    ] as const) {
      const stale = await performAction(action, '"older"', body);
      expect(stale, action).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT', details: { etag } } } });
      expect(await readState()).toEqual({ status: 'SENDING', updatedAt: record.updatedAt });
    }
    expect((await performAction('winner', etag, { variant: 'A' })).body.error.message).toContain('no test');
    expect(await performAction('pause', etag)).toMatchObject({ status: 200, body: { data: { status: 'PAUSED' } } });
    expect((await performAction('resume', etag)).headers.get('etag')).toBe(etag);
    expect((await performAction('retry', '*', {})).body).toEqual({ requeued: 0 });
    expect((await performAction('cancel', etag)).status).toBe(200);
    expect((await api.call('GET', path)).headers.get('etag')).toBe(etag);
    expect((await performAction('cancel', ' ')).status).toBe(400);
  });

  it('changes when its segment is deleted', async () => {
    const { record: segment, path: segmentPath } = await createRecord(RECORDS[2]);
    const body = createCampaignBody({ audienceType: 'SEGMENT', segmentId: segment.id });
    const { id } = (await api.call('POST', '/campaigns', { body })).body.data;
    const before = (await api.call('GET', `/campaigns/${id}`)).headers.get('etag');
    expect((await api.call('DELETE', segmentPath)).status).toBe(204);
    expect((await api.call('GET', `/campaigns/${id}`)).headers.get('etag')).not.toBe(before);
  });
});

it('counting and computing a segment do not change its version', async () => {
  const { path, etag, record } = await createRecord(RECORDS[2]);
  await api.call('PATCH', path, { body: { trackMembership: true } });
  const tracked = (await api.call('GET', path)).headers.get('etag');
  expect(tracked).not.toBe(etag);
  expect((await api.call('POST', `${path}/compute`)).status).toBe(200);
  expect((await api.call('POST', `/segments/${record.id}/refresh`)).status).toBe(200);
  expect((await api.call('GET', path)).headers.get('etag')).toBe(tracked);
});

it('changing the members of a static segment checks its version, and does not change it', async () => {
  const { body: segment, headers } = await api.call('POST', '/segments', { body: { name: 'Club', type: 'STATIC' } });
  const path = `/segments/${segment.id}`;
  const etag = headers.get('etag') ?? '';
  const changeMembers = (method: string, ifMatch: string) =>
    api.call(method, `${path}/members`, {
      body: { emails: ['club@reader.test'], ...(method === 'POST' && { createMissing: true }) },
      headers: { 'If-Match': ifMatch },
    });
  expect(await changeMembers('POST', '"older"')).toMatchObject({ status: 409, body: { error: { details: { etag } } } });
  expect((await api.call('GET', `${path}/contacts`)).body.total).toBe(0);
  expect((await changeMembers('POST', etag)).body).toMatchObject({ added: 1 });
  expect((await changeMembers('DELETE', '"older"')).status).toBe(409);
  expect((await changeMembers('DELETE', etag)).body).toEqual({ removed: 1 });
});
