import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../../support/api.ts';

let api: TestApi;
const VALID = {
  name: 'Welcome',
  subject: 'Hi {{firstName}}',
  body: '<p>Hello {{name ?? you}}</p>',
  type: 'TRANSACTIONAL',
};

beforeAll(async () => {
  api = await startTestApi();
  await sql`
    INSERT INTO domains (project_id, domain, status, dkim_selector, dkim_private_key, dkim_public_key) VALUES
      (${api.one.id}, 'verified.example', 'VERIFIED', 's', 'x', 'x'), (${api.one.id}, 'pending.example', 'PENDING', 's', 'x', 'x'),
      (${api.two.id}, 'theirs.example', 'VERIFIED', 's', 'x', 'x')`.execute(api.db);
});
afterAll(() => api.close());

const createTemplate = (body: object = {}) => api.call('POST', '/templates', { body: { ...VALID, ...body } });

describe('a template', () => {
  it('is created with all its fields, read and changed; null removes a value', async () => {
    const full = { description: 'd', from: 'hi@verified.example', fromName: 'Ada', replyTo: 'r@x.com' };
    const created = await createTemplate(full);
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ ...VALID, ...full });
    const { id } = created.body;
    expect((await api.call('GET', `/v1/templates/${id}`)).body).toEqual(created.body);
    const patched = await api.call('PATCH', `/templates/${id}`, { body: { subject: 'New', fromName: null } });
    expect(patched).toMatchObject({ status: 200, body: { ...VALID, ...full, subject: 'New', fromName: null } });
  });

  it.each([
    ['subject', { subject: 'Hi {{ name' }],
    ['body', { body: '<p>\n  {% if a %}' }],
    ['body', { body: '{% include "x" %}' }],
    ['body', { body: '{{ a | no_such_filter }}' }],
    ['body', { body: '<p>{{ total | }}</p>' }],
    ['subject', { subject: 'Hi {{ data. -}}' }],
    ['subject', { subject: 'Hi {{ name | }}' }],
  ])('is refused with line and column if its %s does not parse', async (field, body) => {
    const response = await createTemplate(body);
    expect(response.status).toBe(422);
    expect(response.body.error).toMatchObject({
      code: 'VALIDATION_ERROR',
      errors: [{ field }],
      details: { line: expect.any(Number), column: expect.any(Number) },
    });
  });

  it('keeps its text if an update does not parse', async () => {
    const { id } = (await createTemplate()).body;
    expect((await api.call('PATCH', `/templates/${id}`, { body: { name: 'x', body: '{% for %}' } })).status).toBe(422);
    expect((await api.call('GET', `/templates/${id}`)).body).toMatchObject(VALID);
  });

  it.each(['hi@pending.example', 'hi@theirs.example', 'hi@sub.verified.example'])(
    'cannot send from %s',
    async (from) => {
      expect(await createTemplate({ from })).toMatchObject({
        status: 400,
        body: { error: { code: 'DOMAIN_NOT_VERIFIED' } },
      });
      const { id } = (await createTemplate()).body;
      expect((await api.call('PATCH', `/templates/${id}`, { body: { from } })).status).toBe(400);
    },
  );

  it.each([
    ['name', {}],
    ['subject', { subject: 'a\nb' }],
    ['subject', { subject: 'x'.repeat(999) }],
    ['body', { body: '' }],
    ['type', { type: 'OTHER' }],
    ['from', { from: 'nope' }],
    ['fromName', { fromName: 'a\r\nBcc: x' }],
  ])('with an invalid %s is refused', async (field, body) => {
    const response = await createTemplate(field === 'name' ? { name: undefined } : body);
    expect(response.status).toBe(422);
    expect(response.body.error.errors[0].field).toBe(field);
  });

  it('is copied with all its fields', async () => {
    const { body: original } = await createTemplate({ name: 'n'.repeat(200), description: 'd' });
    const copy = await api.call('POST', `/templates/${original.id}/duplicate`);
    expect(copy.status).toBe(201);
    expect(copy.body).toMatchObject({ ...VALID, description: 'd', name: `${'n'.repeat(193)} (Copy)` });
    expect(copy.body.id).not.toBe(original.id);
  });

  it('cannot be deleted while a step uses it', async () => {
    const { id } = (await createTemplate()).body;
    const { rows } = await sql<{ id: string }>`
      WITH w AS (INSERT INTO workflows (project_id, name) VALUES (${api.one.id}, 'Onboarding') RETURNING id)
      INSERT INTO workflow_steps (project_id, workflow_id, type, name, template_id)
      SELECT ${api.one.id}, id, 'SEND_EMAIL', 'Mail', ${id} FROM w RETURNING id`.execute(api.db);
    const usage = await api.call('GET', `/templates/${id}/usage`);
    const step = { id: rows[0]?.id, name: 'Mail', workflowName: 'Onboarding' };
    expect(usage.body).toMatchObject({ campaigns: [], workflowSteps: [step], emailsSent: 0 });
    expect(await api.call('DELETE', `/templates/${id}`)).toMatchObject({
      status: 409,
      body: { error: { code: 'CONFLICT', details: { workflowSteps: [step] } } },
    });
    await sql`DELETE FROM workflow_steps`.execute(api.db);
    expect((await api.call('DELETE', `/templates/${id}`)).status).toBe(204);
    expect((await api.call('GET', `/templates/${id}`)).status).toBe(404);
  });

  it('counts the live emails that were sent with it', async () => {
    const { id } = (await createTemplate()).body;
    await sql`
      WITH c AS (INSERT INTO contents (project_id, hash, subject, body, type, from_email, template_id)
        VALUES (${api.one.id}, 'h', 's', 'b', 'TRANSACTIONAL', 'a@x.com', ${id}) RETURNING id)
      INSERT INTO emails (project_id, content_id, source_type, mode, sent_at)
      SELECT ${api.one.id}, c.id, 'TRANSACTIONAL', m.mode, m.sent FROM c,
        (VALUES ('live', now()), ('live', NULL), ('test', now())) AS m (mode, sent)`.execute(api.db);
    expect((await api.call('GET', `/templates/${id}/usage`)).body.emailsSent).toBe(1);
  });
});

describe('the list of templates', () => {
  it('has page numbers and cursors, and filters by type and search', async () => {
    const key = api.two.secretKey;
    for (let i = 0; i < 5; i += 1) {
      const type = i % 2 === 0 ? 'MARKETING' : 'TRANSACTIONAL';
      await api.call('POST', '/templates', { key, body: { ...VALID, name: `T${i} 50%`, type } });
    }
    const listTemplates = async (query: string) => (await api.call('GET', `/templates?${query}`, { key })).body;
    const listNames = (page: { templates: { name: string }[] }) => page.templates.map((one) => one.name.slice(0, 2));
    const first = await listTemplates('pageSize=2');
    expect(first).toMatchObject({ page: 1, pageSize: 2, total: 5, totalPages: 3, hasMore: true });
    expect(listNames(first)).toEqual(['T4', 'T3']);
    expect(listNames(await listTemplates('pageSize=2&page=3'))).toEqual(['T0']);
    expect(listNames(await listTemplates(`limit=2&cursor=${first.cursor}`))).toEqual(['T2', 'T1']);
    expect(listNames(await listTemplates('type=MARKETING'))).toEqual(['T4', 'T2', 'T0']);
    expect(listNames(await listTemplates('search=t3%2050%25'))).toEqual(['T3']);
    expect((await api.call('GET', '/templates?type=x', { key })).status).toBe(400);
  });
});

describe('access to templates', () => {
  it("does not find another project's template", async () => {
    const { id } = (await createTemplate()).body;
    const key = api.two.secretKey;
    const requests: [string, string, object?][] = [
      ['GET', `/templates/${id}`],
      ['PATCH', `/templates/${id}`, { name: 'x' }],
      ['DELETE', `/templates/${id}`],
      ['POST', `/templates/${id}/duplicate`],
      ['GET', `/templates/${id}/usage`],
    ];
    for (const [method, path, body] of requests) {
      expect((await api.call(method, path, { key, ...(body && { body }) })).status).toBe(404);
    }
    expect((await api.call('GET', `/templates/${id}`)).body.name).toBe('Welcome');
  });

  it('needs templates:view to read and templates:edit to write', async () => {
    const key = api.one.bareKey;
    expect((await api.call('GET', '/templates', { key })).body.error.details.requiredScope).toBe('templates:view');
    const write = await api.call('POST', '/templates', { key, body: VALID });
    expect(write.body.error.details.requiredScope).toBe('templates:edit');
  });
});

describe('a test email of a template', () => {
  const MAIL = { subject: 'Hi {{name}}', body: '<p>Hello {{name ?? you}}</p>', from: 'hi@verified.example' };
  const sendTest = (body: object) => api.call('POST', '/templates/test', { body: { ...MAIL, ...body } });

  it('is sent as one email with [TEST] in its subject, and creates no contact', async () => {
    api.dispatched.length = 0;
    const response = await sendTest({ email: 'Tester@example.com' });
    expect(response).toMatchObject({ status: 200, body: { data: { email: 'tester@example.com' } } });
    const { emailId } = response.body.data;
    expect(api.dispatched).toMatchObject([{ kind: 'email.deliver', refId: emailId }]);
    const { rows } = await sql`
      SELECT c.subject, e.to_email, e.contact_id FROM emails e JOIN contents c ON c.id = e.content_id WHERE e.id = ${emailId}
    `.execute(api.db);
    expect(rows).toEqual([{ subject: '[TEST] Hi {{name}}', to_email: 'tester@example.com', contact_id: null }]);
    const { rows: contacts } = await sql`SELECT id FROM contacts WHERE email = 'tester@example.com'`.execute(api.db);
    expect(contacts).toEqual([]);
  });

  it("is refused if the text does not parse or if the sender is another project's domain", async () => {
    api.dispatched.length = 0;
    const broken = await sendTest({ email: 'a@example.com', body: '<p>\n{% if a %}' });
    expect(broken.body.error).toMatchObject({ code: 'VALIDATION_ERROR', details: { line: expect.any(Number) } });
    const theirs = await sendTest({ email: 'a@example.com', from: 'hi@theirs.example' });
    expect(theirs.body.error.code).toBe('DOMAIN_NOT_VERIFIED');
    expect(api.dispatched).toEqual([]);
  });
});
