import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDomain } from '../build/senders.ts';
import { buildProject, startTestApi, type TestApi, type TestProject } from '../support/api.ts';

const KB = 1024;
const MB = 1024 * KB;
let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id });
});
afterAll(() => api.close());

const json = { 'content-type': 'application/json' };

/** Sends a body as text, because some refused bodies cannot be produced by JSON.stringify. */
async function post(path: string, body: string, key = api.one.secretKey) {
  const response = await api.app.request(path, {
    method: 'POST',
    headers: { ...json, authorization: `Bearer ${key}` },
    body,
  });
  // biome-ignore lint/suspicious/noExplicitAny: responses of several shapes
  return { status: response.status, body: (await response.json()) as any };
}

const createEmailBody = (more: string) =>
  `{"to":"a@example.com","from":"x@shop.example.com","subject":"S","body":"<p>b</p>",${more}}`;

describe('the number of values in a request body', () => {
  it.each([
    ['in data', createEmailBody(`"data":{"x":[${'[],'.repeat(60_000)}[]]}`)],
    ['as recipients', `{"to":[${'{},'.repeat(60_000)}{}],"from":"x@shop.example.com","subject":"S","body":"b"}`],
    ['in text that is not JSON at its end', createEmailBody(`"data":{"x":[${'[],'.repeat(60_000)}`)],
  ])('is limited: more than 100,000 %s are refused before they are parsed', async (_, body) => {
    const { status, body: response } = await post('/v1/send', body);
    expect(status).toBe(422);
    expect(response.error).toMatchObject({
      code: 'VALIDATION_ERROR',
      errors: [{ field: '', code: 'too_big', message: expect.stringContaining('100,000 values') }],
    });
  });

  it('does not include commas and brackets in strings', async () => {
    const { status } = await post(
      '/v1/send',
      createEmailBody(`"data":{"note":{"value":"${'[,'.repeat(30_000)}","persistent":false}}`),
    );
    expect(status).toBe(200);
  });
});

describe('the bytes of a request body', () => {
  const createAttachmentText = (bytes: number) =>
    `"attachments":[{"filename":"a.bin","contentType":"application/octet-stream","content":"${'A'.repeat(bytes)}"}]`;

  it('are limited to 3 MB, and the 413 names the limit', async () => {
    const { status, body } = await post('/templates', `{"name":"N","description":"${'x'.repeat(3 * MB)}"}`);
    expect([status, body.error.details]).toEqual([413, { maxBytes: 3 * MB }]);
  });

  it('are limited to 16 MB for an email with attachments, and 3 MB without', async () => {
    expect((await post('/v1/send', createEmailBody(createAttachmentText(12 * MB)))).status).toBe(200);
    expect((await post('/v1/send', createEmailBody(createAttachmentText(16 * MB)))).body.error).toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      details: { maxBytes: 16 * MB },
    });
    const unknown = `"extra":"${'x'.repeat(3 * MB)}"`;
    expect((await post('/v1/send', createEmailBody(`${unknown},${createAttachmentText(8)}`))).body.error).toMatchObject(
      {
        code: 'PAYLOAD_TOO_LARGE',
        details: { maxBytes: 3 * MB },
      },
    );
  });

  it.each([
    ['/v1/track', '"email":"a@example.com","event":"e"'],
    ['/v1/pixel', '"events":[{"name":"page_viewed"}]'],
    ['/v1/back-in-stock', '"email":"a@example.com","storefrontVariantId":"1"'],
  ])('are limited to 64 KB on %s, which anyone may call', async (path, body) => {
    const { status, body: response } = await post(
      path,
      `{${body},"extra":"${'x'.repeat(64 * KB)}"}`,
      api.one.publicKey,
    );
    expect(status).toBe(413);
    expect(response.error).toMatchObject({ message: 'The body is larger than 64 KB.', details: { maxBytes: 64 * KB } });
  });
});

describe('the size of stored values', () => {
  const createFilter = (value: unknown) => ({ field: 'data.plan', operator: 'equals', value });
  const createCondition = (filters: object[]) => ({ logic: 'AND', groups: [{ filters }] });
  const many = Array.from({ length: 100 }, () => createFilter('x'.repeat(1_000)));
  const campaign = { name: 'N', subject: 'S', body: '<p>b</p>', from: 'x@shop.example.com', audienceType: 'FILTERED' };
  let workflowId: string;
  beforeAll(async () => {
    workflowId = (await api.call('POST', '/workflows', { body: { name: 'W', eventName: 'e' } })).body.id;
  });
  const addStep = (type: string, config: object) =>
    api.call('POST', `/workflows/${workflowId}/steps`, { body: { type, config } });

  it.each([
    [
      'a segment',
      (value: object) => api.call('POST', '/segments', { body: { name: `s${Math.random()}`, filters: value } }),
    ],
    [
      'an audience',
      (value: object) => api.call('POST', '/campaigns', { body: { ...campaign, audienceFilter: value } }),
    ],
    ['a CONDITION step', (value: object) => addStep('CONDITION', value)],
    ['a wait', (value: object) => addStep('WAIT_FOR_EVENT', { eventName: 'go', filters: value })],
  ])('is limited to 64 KB for the condition of %s, and 1 KB for one of its values', async (_, create) => {
    expect((await create(createCondition([createFilter('x'.repeat(1_024))]))).status).toBeLessThan(300);
    const long = await create(createCondition([createFilter('ok'), createFilter('é'.repeat(600))]));
    expect([long.status, long.body.error.errors[0].message]).toEqual([422, 'A text to compare with is at most 1 KB.']);
    expect(long.body.error.errors[0].field).toMatch(/groups\.0\.filters\.1\.value$/);
    const large = await create(createCondition(many));
    expect([large.status, large.body.error.errors[0].message]).toEqual([422, 'A condition is at most 64 KB of JSON.']);
    expect((await create(createCondition([createFilter(['a', 'x'.repeat(1_025)])]))).status).toBe(422);
  });

  it.each([
    [
      'a template',
      (body: string) => api.call('POST', '/templates', { body: { name: 'T', subject: 'S', body, type: 'MARKETING' } }),
    ],
    [
      'a campaign',
      (body: string) => api.call('POST', '/campaigns', { body: { ...campaign, audienceType: 'ALL', body } }),
    ],
  ])('is limited to 512 KB for the body of %s', async (_, create) => {
    expect((await create('x'.repeat(512 * KB))).status).toBeLessThan(300);
    const large = await create('é'.repeat(256 * KB + 1));
    expect(large.status).toBe(422);
    expect(large.body.error.errors).toEqual([{ field: 'body', code: 'too_big', message: 'A body is at most 512 KB.' }]);
  });

  it('is limited to 64 KB for the data of an event', async () => {
    const trackEvent = (text: string) => api.call('POST', '/events/track', { body: { name: 'e', data: { text } } });
    expect((await trackEvent('x'.repeat(64 * KB - 11))).status).toBe(201);
    const large = await trackEvent('x'.repeat(64 * KB - 10));
    expect(large.status).toBe(422);
    expect(large.body.error.errors).toMatchObject([{ field: 'data', code: 'too_big' }]);
  });
});

describe('the number of records', () => {
  const template = { name: 'T', subject: 'S', body: '<p>b</p>', type: 'TRANSACTIONAL' };
  const filters = { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'exists' }] }] };
  const callAsProjectTwo = (method: string, path: string, body?: object) =>
    api.call(method, path, { key: api.two.secretKey, ...(body && { body }) });
  const getProjectId = () => api.two.id;

  async function fillTable(
    statement: (project: string) => { execute(db: TestApi['db']): Promise<unknown> },
  ): Promise<void> {
    await statement(getProjectId()).execute(api.db);
  }

  it.each([
    [
      'segments',
      500,
      (id: string) => sql`INSERT INTO segments (project_id, name, slug, type)
        SELECT ${id}, 's' || n, 's-' || n, 'STATIC' FROM generate_series(1, 498) n`,
      (n: number) => callAsProjectTwo('POST', '/segments', { name: `new ${n}`, filters }),
    ],
    [
      'workflows',
      500,
      (id: string) => sql`INSERT INTO workflows (project_id, name, event_name)
        SELECT ${id}, 'w' || n, 'e' FROM generate_series(1, 498) n`,
      (n: number) => callAsProjectTwo('POST', '/workflows', { name: `new ${n}`, eventName: 'e' }),
    ],
    [
      'templates',
      1_000,
      (id: string) => sql`INSERT INTO templates (project_id, name, subject, body, type)
        SELECT ${id}, 't' || n, 'S', 'b', 'MARKETING' FROM generate_series(1, 998) n`,
      () => callAsProjectTwo('POST', '/templates', template),
    ],
  ])('a project has a limited number of %s, also when many are created at once', async (kind, most, filled, create) => {
    await fillTable(filled);
    const responses = await Promise.all([1, 2, 3, 4, 5].map(create));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409]);
    const refused = responses.find(({ status }) => status === 409)?.body.error;
    expect(refused).toMatchObject({ code: 'CONFLICT', message: `A project has at most ${most} ${kind}.` });
    expect(refused.suggestion).toContain('Delete');
  });

  it('is limited to 500 steps with 3 MB of config in a workflow, also with concurrent requests', async () => {
    const { id } = (await api.call('POST', '/workflows', { body: { name: 'Long', eventName: 'e' } })).body;
    const addWebhookStep = (size: number) =>
      api.call('POST', `/workflows/${id}/steps`, {
        body: { type: 'WEBHOOK', config: { url: 'https://example.com', body: 'x'.repeat(size) } },
      });
    await sql`INSERT INTO workflow_steps (project_id, workflow_id, type, name, config)
      SELECT ${api.one.id}, ${id}, 'EXIT', 'x', jsonb_build_object('reason', repeat('x', 6064)) FROM generate_series(1, 497) n
    `.execute(api.db);
    const { status, body } = await addWebhookStep(60 * KB);
    expect(status).toBe(201);
    const large = await Promise.all([addWebhookStep(60 * KB), addWebhookStep(60 * KB), addWebhookStep(60 * KB)]);
    expect(large.map((response) => response.status).sort()).toEqual([201, 422, 422]);
    const grown = { config: { url: 'https://example.com', body: 'x'.repeat(63 * KB) } };
    expect((await api.call('PATCH', `/workflows/${id}/steps/${body.id}`, { body: grown })).status).toBe(422);
    const small = await Promise.all([addWebhookStep(1), addWebhookStep(1), addWebhookStep(1)]);
    expect(small.map((response) => response.status).sort()).toEqual([201, 409, 409]);
    expect(small.find((response) => response.status === 409)?.body.error.message).toBe(
      'A workflow has at most 500 steps.',
    );
  });

  it('the number of templates includes copies', async () => {
    const { body } = await callAsProjectTwo('GET', '/templates?limit=1');
    expect((await callAsProjectTwo('POST', `/templates/${body.templates[0].id}/duplicate`)).status).toBe(409);
  });
});

describe('a page of a list', () => {
  const readText = async (path: string, key = lists.secretKey) => {
    const response = await api.app.request(path, { headers: { authorization: `Bearer ${key}` } });
    return response.text();
  };
  let lists: TestProject;
  beforeAll(async () => {
    lists = await buildProject(api.db, 'Lists');
  });

  it.each([
    [
      '/templates?limit=50',
      'body',
      () => sql`INSERT INTO templates (project_id, name, subject, body, type)
        SELECT ${lists.id}, 't' || n, 'S', repeat('"', 500000), 'MARKETING' FROM generate_series(1, 20) n`,
    ],
    [
      '/campaigns?limit=50',
      'body',
      () => sql`INSERT INTO campaigns (project_id, name, subject, body, from_email, audience_type)
        SELECT ${lists.id}, 'c' || n, 'S', repeat('x', 500000), 'x@e.test', 'ALL' FROM generate_series(1, 20) n`,
    ],
    [
      '/segments',
      'condition',
      () => sql`INSERT INTO segments (project_id, name, slug, type, condition)
        SELECT ${lists.id}, 's' || n, 's-' || n, 'DYNAMIC', jsonb_build_object('logic', 'AND', 'groups', jsonb_build_array(
          jsonb_build_object('filters', jsonb_build_array(jsonb_build_object('field', 'data.' || repeat('x', 60000), 'operator', 'exists')))))
        FROM generate_series(1, 60) n`,
    ],
  ])('a page of %s has at most 4 MB: rows beyond it have no %s, and are marked', async (path, field, filled) => {
    await filled().execute(api.db);
    const response = await readText(path);
    expect(Buffer.byteLength(response)).toBeLessThanOrEqual(4 * MB);
    const read = JSON.parse(response);
    const records: Record<string, unknown>[] = Array.isArray(read) ? read : (read.templates ?? read.campaigns);
    const cut = records.findIndex((record) => record.truncated === true);
    expect(records.length).toBeGreaterThanOrEqual(20);
    expect(cut).toBeGreaterThan(2);
    for (const [n, record] of records.entries()) {
      expect([n, record.truncated === true, field in record]).toEqual([n, n >= cut, n < cut]);
    }
  });

  it("a page of a segment's contacts omits the data of contacts beyond 4 MB, because its pages are numbered", async () => {
    const project = await buildProject(api.db, 'Members');
    const { body } = await api.call('POST', '/segments', {
      key: project.secretKey,
      body: { name: 'all', filters: { logic: 'AND', groups: [{ filters: [{ field: 'email', operator: 'exists' }] }] } },
    });
    await sql`INSERT INTO contacts (project_id, email, subscribed, data)
      SELECT ${project.id}, 's' || n || '@e.test', true, jsonb_build_object('text', repeat('x', 60000))
      FROM generate_series(1, 50) n`.execute(api.db);
    const response = await readText(`/segments/${body.id}/contacts?pageSize=100`, project.secretKey);
    expect(Buffer.byteLength(response)).toBeLessThanOrEqual(4 * MB);
    const contacts: Record<string, unknown>[] = JSON.parse(response).contacts;
    expect(contacts).toHaveLength(50);
    const whole = contacts.filter((contact) => contact.truncated === undefined);
    expect(whole.length).toBeGreaterThan(20);
    expect(contacts.every((contact) => 'data' in contact === (contact.truncated === undefined))).toBe(true);
  });

  it.each([
    [
      '/events?limit=100',
      'events',
      () => sql`INSERT INTO events (project_id, name, data)
        SELECT ${lists.id}, 'large', jsonb_build_object('text', repeat('x', 60000)) FROM generate_series(1, 90)`,
    ],
    [
      '/contacts?limit=100',
      'data',
      () => sql`INSERT INTO contacts (project_id, email, subscribed, data)
        SELECT ${lists.id}, 'l' || n || '@e.test', true, jsonb_build_object('text', repeat('x', 60000)) FROM generate_series(1, 90) n`,
    ],
  ])('a page of %s has at most 4 MB: it ends earlier, and its cursor continues', async (path, list, filled) => {
    await filled().execute(api.db);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const response = await readText(`${path}${cursor && `&cursor=${cursor}`}`);
      expect(Buffer.byteLength(response)).toBeLessThanOrEqual(4 * MB);
      const page = JSON.parse(response);
      expect(page.hasMore).toBe(page.cursor !== null);
      seen.push(...page[list].map(({ id }: { id: string }) => id));
      cursor = page.cursor;
    }
    expect([seen.length, new Set(seen).size]).toEqual([90, 90]);
  });
});
