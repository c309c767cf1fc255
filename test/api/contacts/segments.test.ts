import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listDueSegments } from '../../../db/segments/due.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

let counter = 0;
let name = '';
/** A tag that only contacts of this test have, so that tests do not see other tests' contacts. */
let tag = '';
beforeEach(() => {
  counter += 1;
  name = `Segment ${counter}`;
  tag = `tag-${counter}`;
});

const createTagCondition = () => ({
  operator: 'AND',
  conditions: [{ field: 'data.tag', operator: 'equals', value: tag }],
});

async function createTagSegment(body: object = {}) {
  const created = await api.call('POST', '/segments', { body: { name, filters: createTagCondition(), ...body } });
  expect(created.status, JSON.stringify(created.body)).toBe(201);
  return created.body;
}

async function createContact(address: string, data: object = { tag }): Promise<string> {
  const { body } = await api.call('POST', '/contacts', { body: { email: `${address}.${tag}@example.com`, data } });
  return body.id;
}

async function listMemberIds(id: string, query = ''): Promise<string[]> {
  const { body } = await api.call('GET', `/segments/${id}/contacts${query}`);
  return body.contacts.map((item: { id: string }) => item.id);
}

async function listEvents(event: string): Promise<{ contact_id: string; data: unknown }[]> {
  const { rows } = await sql<{ contact_id: string; data: unknown }>`
    SELECT contact_id, data FROM events WHERE project_id = ${api.one.id} AND name = ${event} ORDER BY id`.execute(
    api.db,
  );
  return rows;
}

describe('creating a segment', () => {
  it('returns 201 with its filters in full form under both names, its slug and its count', async () => {
    await createContact('ann');
    const segment = await createTagSegment({ description: 'Ours' });
    const full = { logic: 'AND', groups: [{ filters: createTagCondition().conditions }] };
    expect(segment).toMatchObject({ name, slug: `segment-${counter}`, description: 'Ours', type: 'DYNAMIC' });
    expect(segment).toMatchObject({ filters: full, condition: full, trackMembership: false, memberCount: 1 });
    const { body } = await api.call('GET', `/v1/segments/${segment.id}`);
    expect(body).toEqual(segment);
    const list = await api.call('GET', '/v1/segments');
    expect(list.body[0]).toEqual(segment);
  });

  it('accepts `condition` instead of `filters`, and refuses both if they differ', async () => {
    const { filters } = await createTagSegment({ filters: undefined, condition: createTagCondition() });
    expect(filters.groups[0].filters).toEqual(createTagCondition().conditions);
    const other = { operator: 'AND', conditions: [{ field: 'email', operator: 'exists' }] };
    const refused = await api.call('POST', '/segments', {
      body: { name: 'x', filters: createTagCondition(), condition: other },
    });
    expect(refused.status).toBe(422);
  });

  it.each([
    ['no name', { name: undefined }, 'name'],
    ['no filters', { filters: undefined }, 'filters'],
    ['filters in a STATIC segment', { type: 'STATIC' }, 'filters'],
    ['tracking in a STATIC segment', { type: 'STATIC', filters: undefined, trackMembership: true }, 'trackMembership'],
    ['an unknown type', { type: 'SMART' }, 'type'],
    ['an empty condition', { filters: { logic: 'AND', groups: [] } }, 'filters.groups'],
    [
      'an unknown field',
      { filters: { operator: 'AND', conditions: [{ field: 'x', operator: 'exists' }] } },
      'filters.conditions.0.field',
    ],
    [
      'a filter on an unknown segment',
      { filters: { operator: 'AND', conditions: [{ field: `segment.${crypto.randomUUID()}`, operator: 'memberOf' }] } },
      'filters',
    ],
  ])('with %s returns 422 at its field', async (_, body, field) => {
    const { status, body: response } = await api.call('POST', '/segments', {
      body: { name, filters: createTagCondition(), ...body },
    });
    expect(status).toBe(422);
    expect(response.error.errors.map((fault: { field: string }) => fault.field)).toEqual([field]);
  });

  it('returns 409 if the slug is taken in the project, on create and on rename, also concurrently', async () => {
    await createTagSegment({ name: 'Big Spenders!' });
    const again = await api.call('POST', '/segments', {
      body: { name: 'big spenders', filters: createTagCondition() },
    });
    expect([again.status, again.body.error.code]).toEqual([409, 'CONFLICT']);
    expect(again.body.error.suggestion).toBe('Choose another name, or set another slug.');
    const other = await createTagSegment();
    const renamed = await api.call('PATCH', `/segments/${other.id}`, { body: { name: 'BIG   spenders' } });
    expect(renamed.status).toBe(409);
    const same = await api.call('PATCH', `/segments/${other.id}`, { body: { name: name.toUpperCase() } });
    expect(same.body).toMatchObject({ name: name.toUpperCase(), slug: other.slug });
    const body = { name: 'Big Spenders!', filters: createTagCondition() };
    expect((await api.call('POST', '/segments', { body, key: api.two.secretKey })).status).toBe(201);
    const race = await Promise.all(
      [1, 2, 3].map(() => api.call('POST', '/segments', { body: { name: 'Race', filters: createTagCondition() } })),
    );
    expect(race.map((response) => response.status).sort()).toEqual([201, 409, 409]);
  });

  it('keeps its slug if a request repeats the name, and gets a new slug from another name', async () => {
    const segment = await createTagSegment({ slug: `pro-${counter}` });
    const patchSegment = async (body: object) => (await api.call('PATCH', `/segments/${segment.id}`, { body })).body;
    expect(await patchSegment({ name, description: 'x' })).toMatchObject({ slug: segment.slug, description: 'x' });
    // The slug that the name would give now belongs to another segment, which does not matter without a rename.
    await createTagSegment({ name: `${name}!`, slug: `segment-${counter}` });
    expect(await patchSegment({ name, description: 'y' })).toMatchObject({ slug: segment.slug, description: 'y' });
    expect(await patchSegment({ name: `Gold ${counter}` })).toMatchObject({ slug: `gold-${counter}` });
  });
});

describe('the contacts of a segment', () => {
  it('are evaluated at each request if it is dynamic, newest first, page by page', async () => {
    const { id } = await createTagSegment();
    const ids = [await createContact('a'), await createContact('b'), await createContact('c')];
    await createContact('other', {});
    const { body } = await api.call('GET', `/segments/${id}/contacts?pageSize=2`);
    expect(body).toMatchObject({ page: 1, pageSize: 2, total: 3, totalPages: 2 });
    expect(body.data).toEqual(body.contacts);
    expect(body.contacts.map((item: { id: string }) => item.id)).toEqual([ids[2], ids[1]]);
    expect(await listMemberIds(id, '?pageSize=2&page=2')).toEqual([ids[0]]);
    expect(await listMemberIds(id, '?pageSize=2&page=3')).toEqual([]);
    await api.call('PATCH', `/contacts/${ids[1]}`, { body: { data: { tag: null } } });
    expect(await listMemberIds(id)).toEqual([ids[2], ids[0]]);
    expect((await api.call('GET', `/segments/${id}/contacts?pageSize=101`)).status).toBe(400);
  });

  it('change at once when its condition changes, also through another segment', async () => {
    const { id } = await createTagSegment({ trackMembership: true });
    const conditions = [{ field: `segment.${id}`, operator: 'memberOf' }];
    const outer = await createTagSegment({ name: `${name} outer`, filters: { operator: 'AND', conditions } });
    const ann = await createContact('ann');
    expect(await listMemberIds(outer.id)).toEqual([ann]);
    await api.call('POST', `/segments/${id}/compute`);
    const bob = await createContact('bob', { tag: `${tag}-new` });
    const filters = { operator: 'AND', conditions: [{ field: 'data.tag', operator: 'equals', value: `${tag}-new` }] };
    expect((await api.call('PATCH', `/segments/${id}`, { body: { filters } })).status).toBe(200);
    expect(await listMemberIds(id)).toEqual([bob]);
    expect(await listMemberIds(outer.id)).toEqual([bob]);
  });

  it('cannot be read if segments refer to each other in a cycle', async () => {
    const inner = await createTagSegment();
    const createMembershipCondition = (id: string) => ({
      operator: 'AND',
      conditions: [{ field: `segment.${id}`, operator: 'notMemberOf' }],
    });
    const outer = await createTagSegment({ name: `${name} outer`, filters: createMembershipCondition(inner.id) });
    const closed = await api.call('PATCH', `/segments/${inner.id}`, {
      body: { filters: createMembershipCondition(outer.id) },
    });
    expect(closed.status).toBe(409);
    const self = await api.call('PATCH', `/segments/${inner.id}`, {
      body: { filters: createMembershipCondition(inner.id) },
    });
    expect(self.status).toBe(409);
  });
});

describe('the members of a static segment', () => {
  it('are added and removed by address; unknown addresses are named, or created on request', async () => {
    const { id, filters } = await createTagSegment({ type: 'STATIC', filters: undefined });
    expect(filters).toBeNull();
    const ann = await createContact('ann');
    const emails = [`ann.${tag}@example.com`, `ANN.${tag}@example.com`, `new.${tag}@example.com`];
    const added = await api.call('POST', `/segments/${id}/members`, { body: { emails } });
    expect(added).toMatchObject({ status: 200, body: { added: 1, created: 0, notFound: [`new.${tag}@example.com`] } });
    const created = await api.call('POST', `/segments/${id}/members`, {
      body: { emails, createMissing: true, subscribed: false },
    });
    expect(created.body).toEqual({ added: 1, created: 1, notFound: [] });
    const { body } = await api.call('GET', `/segments/${id}/contacts`);
    expect(body.contacts.map((item: { subscribed: boolean }) => item.subscribed)).toEqual([false, true]);
    expect((await api.call('GET', `/segments/${id}`)).body.memberCount).toBe(2);
    const removed = await api.call('DELETE', `/segments/${id}/members`, {
      body: { emails: [emails[2], 'nobody@example.com'] },
    });
    expect(removed).toMatchObject({ status: 200, body: { removed: 1 } });
    expect(await listMemberIds(id)).toEqual([ann]);
    expect((await api.call('POST', `/segments/${id}/refresh`)).body).toEqual({ memberCount: 1 });
  });

  it('cannot be set on a dynamic segment, nor more than 500 at once', async () => {
    const { id } = await createTagSegment();
    const body = { emails: ['ann@example.com'] };
    expect((await api.call('POST', `/segments/${id}/members`, { body })).status).toBe(409);
    expect((await api.call('DELETE', `/segments/${id}/members`, { body })).status).toBe(409);
    const many = { emails: Array.from({ length: 501 }, (_, n) => `p${n}@example.com`) };
    expect((await api.call('POST', `/segments/${id}/members`, { body: many })).status).toBe(422);
  });

  it('exclude a condition, and cannot be computed', async () => {
    const { id } = await createTagSegment({ type: 'STATIC', filters: undefined });
    expect((await api.call('PATCH', `/segments/${id}`, { body: { condition: createTagCondition() } })).status).toBe(
      422,
    );
    expect((await api.call('PATCH', `/segments/${id}`, { body: { trackMembership: true } })).status).toBe(422);
    expect((await api.call('PATCH', `/segments/${id}`, { body: { trackMembership: false } })).status).toBe(200);
    expect((await api.call('POST', `/segments/${id}/compute`)).status).toBe(400);
  });
});

describe('computing a tracked segment', () => {
  it('records one entry or exit for each change, also with concurrent computations', async () => {
    const { id, slug } = await createTagSegment({ trackMembership: true });
    const ids = await Promise.all(Array.from({ length: 30 }, (_, n) => createContact(`p${n}`)));
    const responses = await Promise.all([1, 2, 3, 4].map(() => api.call('POST', `/segments/${id}/compute`)));
    expect(responses.map((response) => response.status)).toEqual([200, 200, 200, 200]);
    expect(responses.reduce((sum, response) => sum + response.body.added, 0)).toBe(30);
    expect(responses.every((response) => response.body.total === 30)).toBe(true);
    const entries = await listEvents(`segment.${slug}.entry`);
    expect(entries.map((event) => event.contact_id).sort()).toEqual([...ids].sort());
    expect(entries[0]?.data).toEqual({ segmentId: id, segmentName: name });
    await api.call('PATCH', `/contacts/${ids[0]}`, { body: { data: { tag: 'gone' } } });
    await api.call('DELETE', `/contacts/${ids[1]}`);
    const late = await createContact('late');
    const again = await Promise.all([1, 2].map(() => api.call('POST', `/segments/${id}/compute`)));
    expect(again.reduce((sum, response) => sum + response.body.added, 0)).toBe(1);
    expect(again.at(-1)?.body.total).toBe(29);
    expect((await listEvents(`segment.${slug}.exit`)).map((event) => event.contact_id)).toEqual([ids[0]]);
    expect((await listEvents(`segment.${slug}.entry`)).map((event) => event.contact_id)).toContain(late);
    expect((await api.call('GET', `/segments/${id}`)).body).toMatchObject({
      memberCount: 29,
      computedAt: expect.any(String),
    });
  });

  it('starts the workflows that its events trigger', async () => {
    const { id, slug } = await createTagSegment({ trackMembership: true });
    const ann = await createContact('ann');
    const body = { name: 'Welcome', eventName: `segment.${slug}.entry` };
    const workflow = (await api.call('POST', '/workflows', { body })).body;
    await api.call('POST', `/workflows/${workflow.id}/steps`, {
      body: { type: 'DELAY', name: 'Wait', config: { amount: 1, unit: 'days' } },
    });
    const enabled = await api.call('PATCH', `/workflows/${workflow.id}`, { body: { enabled: true } });
    expect(enabled.status, JSON.stringify(enabled.body)).toBe(200);
    await api.call('POST', `/segments/${id}/compute`);
    const { body: executions } = await api.call('GET', `/workflows/${workflow.id}/executions`);
    expect(executions.data).toMatchObject([{ contactId: ann, event: { segmentId: id, segmentName: name } }]);
    expect(api.dispatched.some((row) => row.kind === 'execution.start' && row.refId === executions.data[0].id)).toBe(
      true,
    );
  });

  it('is refused for an untracked segment; refresh counts it without events or members', async () => {
    const { id, slug } = await createTagSegment();
    await createContact('ann');
    const refused = await api.call('POST', `/segments/${id}/compute`);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'BAD_REQUEST']);
    expect((await api.call('POST', `/segments/${id}/refresh`)).body).toEqual({ memberCount: 1 });
    expect(await listEvents(`segment.${slug}.entry`)).toEqual([]);
    const { rows } = await sql`SELECT FROM segment_members WHERE segment_id = ${id}`.execute(api.db);
    expect(rows).toHaveLength(0);
  });

  it('is scheduled as long as the segment is tracked', async () => {
    const { id } = await createTagSegment({ trackMembership: true });
    const listDueIds = () => listDueSegments(api.db, { projectId: api.one.id, since: new Date() });
    expect(await listDueIds()).toContain(id);
    await api.call('PATCH', `/segments/${id}`, { body: { trackMembership: false } });
    expect(await listDueIds()).not.toContain(id);
  });
});

describe('deleting a segment', () => {
  async function insertCampaign(p: { status: string; segmentId?: string; filter?: object }): Promise<string> {
    const { rows } = await sql<{ id: string }>`
      INSERT INTO campaigns (project_id, name, subject, body, from_email, audience_type, segment_id, audience_filter, status, paused_reason)
      VALUES (${api.one.id}, 'News', 'News', '<p>News</p>', 'a@example.com', 'SEGMENT', ${p.segmentId ?? null},
        ${p.filter ? JSON.stringify(p.filter) : null}::jsonb, ${p.status}, ${p.status === 'PAUSED' ? 'user' : null}) RETURNING id`.execute(
      api.db,
    );
    return rows[0]?.id ?? '';
  }
  const createMembershipFilter = (id: string) => ({
    logic: 'AND',
    groups: [{ filters: [{ field: `segment.${id}`, operator: 'memberOf' }] }],
  });

  it('returns 409 while a scheduled, sending or paused campaign uses it, directly, by filter or through another segment', async () => {
    const { id } = await createTagSegment();
    const outer = await createTagSegment({ name: `${name} outer`, filters: createMembershipFilter(id) });
    for (const use of [
      { segmentId: id },
      { filter: createMembershipFilter(id) },
      { segmentId: outer.id },
      { filter: createMembershipFilter(outer.id) },
    ]) {
      for (const status of ['SCHEDULED', 'SENDING', 'PAUSED']) {
        const campaignId = await insertCampaign({ status, ...use });
        const refused = await api.call('DELETE', `/segments/${id}`);
        expect(refused.status).toBe(409);
        expect(refused.body.error.details.usedInCampaigns).toEqual([{ id: campaignId, name: 'News', status }]);
        await sql`DELETE FROM campaigns WHERE id = ${campaignId}`.execute(api.db);
      }
    }
    expect((await api.call('DELETE', `/segments/${id}`)).status).toBe(204);
    expect((await api.call('GET', `/segments/${id}`)).status).toBe(404);
    expect(await listMemberIds(outer.id)).toEqual([]);
  });

  it('is possible if only a draft or a sent campaign uses it, and deletes its members', async () => {
    const { id } = await createTagSegment({ trackMembership: true });
    await createContact('ann');
    await api.call('POST', `/segments/${id}/compute`);
    const draft = await insertCampaign({ status: 'DRAFT', segmentId: id });
    expect((await api.call('DELETE', `/segments/${id}`)).status).toBe(204);
    const { rows } = await sql<{ segment_id: string | null }>`
      SELECT segment_id FROM campaigns WHERE id = ${draft}`.execute(api.db);
    expect(rows).toEqual([{ segment_id: null }]);
    const members = await sql`SELECT FROM segment_members WHERE segment_id = ${id}`.execute(api.db);
    expect(members.rows).toHaveLength(0);
  });
});

it("another project's segment returns 404 in every operation", async () => {
  const { id } = await createTagSegment({ type: 'STATIC', filters: undefined });
  const key = api.two.secretKey;
  const body = { emails: ['ann@example.com'] };
  const responses = await Promise.all([
    api.call('GET', `/segments/${id}`, { key }),
    api.call('PATCH', `/segments/${id}`, { key, body: { name: 'x' } }),
    api.call('DELETE', `/segments/${id}`, { key }),
    api.call('GET', `/segments/${id}/contacts`, { key }),
    api.call('POST', `/segments/${id}/members`, { key, body }),
    api.call('DELETE', `/segments/${id}/members`, { key, body }),
    api.call('POST', `/segments/${id}/compute`, { key }),
    api.call('POST', `/segments/${id}/refresh`, { key }),
  ]);
  expect(responses.map((response) => response.status)).toEqual(Array(8).fill(404));
  const filters = { operator: 'AND', conditions: [{ field: `segment.${id}`, operator: 'memberOf' }] };
  expect((await api.call('POST', '/segments', { key, body: { name: 'x', filters } })).status).toBe(422);
});
