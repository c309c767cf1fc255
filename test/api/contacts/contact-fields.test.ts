import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  const people = [
    { plan: 'pro', age: 30, vip: true, since: '2026-01-31', tags: ['a'], address: { city: 'Berlin' } },
    { plan: 'pro', age: 41, since: '2026-02-01T10:00:00Z', mixed: 'text' },
    { plan: 'free', mixed: 5 },
    { mixed: 'more text' },
  ];
  for (const [i, data] of people.entries()) {
    await api.call('POST', '/contacts', { body: { email: `p${i}@example.com`, data } });
  }
  // Earlier releases stored consent that was sent in `data`.
  await sql`UPDATE contacts SET data = data || '{"subscribed": "custom"}' WHERE email = 'p3@example.com'`.execute(
    api.db,
  );
});
afterAll(() => api.close());

describe('the fields of a project’s contacts', () => {
  it('have the type of most of their values, and the share of contacts that have them', async () => {
    const { body } = await api.call('GET', '/v1/contacts/fields');
    const findField = (name: string) => body.fields.find((one: { field: string }) => one.field === name);
    expect(body.count).toBe(body.fields.length);
    expect(findField('email')).toEqual({ field: 'email', type: 'string', coverage: 100, standard: true });
    expect(findField('data.plan')).toEqual({ field: 'data.plan', type: 'string', coverage: 75, standard: false });
    expect(findField('data.age')).toMatchObject({ type: 'number', coverage: 50 });
    expect(findField('data.vip')).toMatchObject({ type: 'boolean', coverage: 25 });
    expect(findField('data.since')).toMatchObject({ type: 'date', coverage: 50 });
    expect(findField('data.tags')).toMatchObject({ type: 'array' });
    expect(findField('data.address')).toMatchObject({ type: 'object' });
    expect(findField('data.mixed')).toMatchObject({ type: 'string', coverage: 75 });
  });

  it('list their distinct values, most frequent first', async () => {
    const values = await api.call('GET', '/contacts/fields/plan/values');
    expect(values.body).toEqual({ field: 'plan', values: ['pro', 'free'], count: 2, limit: 100 });
    const limited = await api.call('GET', '/contacts/fields/data.plan/values?limit=1');
    expect(limited.body).toMatchObject({ values: ['pro'], limit: 1 });
    expect((await api.call('GET', '/contacts/fields/nobody/values')).body).toMatchObject({ values: [], count: 0 });
    expect((await api.call('GET', '/contacts/fields/plan/values?limit=201')).status).toBe(400);
    expect((await api.call('GET', '/contacts/fields/data.subscribed/values')).body.values).toEqual(['custom']);
    expect((await api.call('GET', '/contacts/fields/subscribed/values')).status).toBe(400);
  });

  it('cannot be removed while a segment, an unsent campaign or a step uses them', async () => {
    const condition = JSON.stringify({
      logic: 'AND',
      groups: [{ filters: [{ field: 'data.age', operator: 'greaterThan', value: 5 }] }],
    });
    const projectId = api.one.id;
    await sql`INSERT INTO segments (project_id, name, slug, condition) VALUES (${projectId}, 'Old', 'old', ${condition}::jsonb)`.execute(
      api.db,
    );
    await sql`
      INSERT INTO campaigns (project_id, name, subject, body, from_email, audience_type, audience_filter)
      VALUES (${projectId}, 'News', 's', 'b', 'a@x.com', 'FILTERED', ${condition}::jsonb)`.execute(api.db);
    await sql`
      WITH w AS (INSERT INTO workflows (project_id, name) VALUES (${projectId}, 'Flow') RETURNING id)
      INSERT INTO workflow_steps (project_id, workflow_id, type, name, config)
      SELECT ${projectId}, id, c.type, 'step', c.config::jsonb FROM w, (VALUES
        ('CONDITION', '{"field": "contact.data.age", "operator": "exists"}'),
        ('UPDATE_CONTACT', '{"updates": {"age": 5}}'), ('CONDITION', '{}')) AS c (type, config)`.execute(api.db);
    const usage = await api.call('GET', '/contacts/fields/age/usage');
    expect(usage.body).toMatchObject({
      usedInSegments: [{ name: 'Old' }],
      usedInCampaigns: [{ name: 'News' }],
      usedInWorkflows: [{ name: 'Flow' }],
      contactCount: 2,
      canDelete: false,
    });
    const refused = await api.call('DELETE', '/contacts/fields/age');
    expect(refused).toMatchObject({
      status: 409,
      body: { error: { code: 'CONFLICT', details: { usedInSegments: [{ name: 'Old' }] } } },
    });
    await sql`DELETE FROM segments`.execute(api.db);
    await sql`DELETE FROM workflow_steps`.execute(api.db);
    await sql`UPDATE campaigns SET status = 'SENT'`.execute(api.db);
    expect((await api.call('DELETE', '/contacts/fields/age')).body).toEqual({ deletedFrom: 2 });
    expect((await api.call('GET', '/contacts/fields/age/usage')).body).toMatchObject({
      contactCount: 0,
      canDelete: true,
    });
  });

  it('cannot be removed if they are standard fields', async () => {
    expect((await api.call('DELETE', '/contacts/fields/email')).status).toBe(400);
  });

  it('are not shown to other projects', async () => {
    const key = api.two.secretKey;
    expect((await api.call('GET', '/contacts/fields', { key })).body.count).toBe(4);
    expect((await api.call('GET', '/contacts/fields/plan/values', { key })).body.values).toEqual([]);
    expect((await api.call('DELETE', '/contacts/fields/plan', { key })).body).toEqual({ deletedFrom: 0 });
    expect((await api.call('GET', '/contacts/fields/plan/usage')).body.contactCount).toBe(3);
  });
});
