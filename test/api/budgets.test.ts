import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildEmail } from '../build/emails.ts';
import { buildDomain } from '../build/senders.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  // A budget so small that any computation uses it up for minutes.
  api = await startTestApi({ PROJECT_CPU_MS_PER_SECOND: '1' });
});
afterAll(() => api.close());

const readEmail = (id: string, key?: string) => api.call('GET', `/v1/emails/${id}`, key === undefined ? {} : { key });
/** A template with 10,000 iterations that print output. It takes a few milliseconds to render. */
const COSTLY = '{% for a in (1..100) %}{% for b in (1..100) %}{{ a | times: b }} {% endfor %}{% endfor %}';

describe('a project that has used up its processor budget', () => {
  it('gets 429 for costly requests; its cheap requests and requests of other projects are served', async () => {
    const costly = await buildEmail(api.db, { projectId: api.one.id, body: COSTLY });
    const plain = await buildEmail(api.db, { projectId: api.one.id });
    const others = await buildEmail(api.db, { projectId: api.two.id, body: COSTLY });
    expect((await readEmail(costly)).status).toBe(200);

    const refused = await readEmail(costly);
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMIT_EXCEEDED' } } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
    expect((await readEmail(plain)).body.data.body).toBe('<p>Hello Ada</p>');
    expect((await readEmail(others, api.two.secretKey)).status).toBe(200);
  });
});

describe('large requests of a project', () => {
  /** A file of 1.5 MB. Parsing it takes 30 ms of the thread that all requests share. */
  const file = { filename: 'a.bin', contentType: 'application/octet-stream', content: 'A'.repeat(1_500_000) };
  const send = ({ secretKey: key, from }: { secretKey: string; from: string }, files: object[]) => {
    const body = { to: 'ada@example.com', from, subject: 'Hi', body: '<p>Hi</p>', attachments: files };
    // Clients send `Content-Length`. This test calls the app without an HTTP server, which would add it.
    const headers = { 'content-length': String(JSON.stringify(body).length) };
    return api.call('POST', '/v1/send', { key, body, headers });
  };

  it('are refused with 429 after the budget is used up; small requests and requests of other projects are not', async () => {
    await buildDomain(api.db, { projectId: api.one.id });
    await buildDomain(api.db, { projectId: api.two.id, domain: 'other.example.com' });
    const one = { ...api.one, from: 'x@shop.example.com' };
    const two = { ...api.two, from: 'x@other.example.com' };
    expect((await send(one, [file])).status).toBe(200);
    const refused = await send(one, [file]);
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMIT_EXCEEDED' } } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
    expect((await send(one, [])).status).toBe(200);
    expect((await send(two, [file])).status).toBe(200);
  });
});

describe('pages of a project’s lists', () => {
  it('are refused with 429 after their bytes have used up the budget; pages of other projects are not', async () => {
    // A response of 0.6 MB takes 24 ms of processor time.
    await sql`
      INSERT INTO contacts (project_id, email, subscribed, data)
      SELECT ${api.one.id}, 'large' || n || '@example.com', true, jsonb_build_object('text', repeat('x', 60000))
      FROM generate_series(1, 10) AS n`.execute(api.db);
    const listContacts = (key = api.one.secretKey) => api.call('GET', '/contacts?limit=100', { key });
    expect((await listContacts()).status).toBe(200);
    const refused = await listContacts();
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMIT_EXCEEDED' } } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
    expect((await listContacts(api.two.secretKey)).status).toBe(200);
  });
});

describe('an untrusted email', () => {
  it('is converted to text only up to the size of an email that a person would write', async () => {
    const fresh = await startTestApi();
    const body = `<p>begin</p><p>${'words '.repeat(20_000)}</p><p>end</p>`;
    const email = { projectId: fresh.one.id, sourceType: 'INBOUND' as const, status: 'RECEIVED' as const, body };
    const { status, body: response } = await fresh.call('GET', `/v1/emails/${await buildEmail(fresh.db, email)}`);
    await fresh.close();
    expect(status).toBe(200);
    expect(response.data.body).toBe(body);
    expect(response.data.text).toMatch(/^begin/);
    expect(response.data.text).not.toContain('end');
  });
});
