import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildContact, buildEmail } from '../../build/emails.ts';
import { buildProject, startTestApi, type TestApi, type TestProject } from '../../support/api.ts';
import { buildEverything } from '../../support/everything.ts';

let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  api = await startTestApi();
  project = await buildProject(api.db, 'Timeline');
});
afterAll(() => api?.close());

const call = (method: string, path: string, body?: unknown) =>
  api.call(method, path, { key: project.secretKey, ...(body !== undefined && { body }) });

interface Item {
  id: string;
  type: string;
  timestamp: string;
  metadata: Record<string, unknown>;
}

async function readTimeline(id: string, limit: number): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const { status, body }: Awaited<ReturnType<typeof call>> = await call(
      'GET',
      `/contacts/${id}/timeline?limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`,
    );
    expect(status).toBe(200);
    expect(body.hasMore).toBe(body.cursor !== null);
    items.push(...body.data);
    cursor = body.cursor;
  } while (cursor);
  return items;
}

it('the timeline shows who changed a subscription and why', async () => {
  const { body: contact } = await call('POST', '/contacts', { email: 'ada@to.test' });
  await call('PATCH', `/contacts/${contact.id}`, { subscribed: false });
  await call('POST', '/v1/track', { email: 'ada@to.test', event: 'back', subscribed: true });
  await call('POST', '/suppressions', { email: 'ada@to.test', reason: 'complaint' });
  const items = (await readTimeline(contact.id, 50)).filter(({ type }) => type.startsWith('contact.'));
  const key = expect.stringMatching(/^key:[0-9a-f-]{36}$/);
  expect(items.map(({ type, metadata }) => [type, metadata.actor, metadata.reason])).toEqual([
    ['contact.unsubscribed', key, 'request'],
    ['contact.subscribed', key, 'request'],
    ['contact.unsubscribed', key, 'request'],
    ['contact.subscribed', key, 'request'],
  ]);
});

it('the timeline is one list of events, emails, SMS and steps with any page size, also within one millisecond', async () => {
  const ids = await buildEverything(api.db, project.id);
  const id = ids('/contacts/x', 'id') ?? '';
  const execution = ids('/workflows/x/executions', 'executionId') ?? '';
  const step = ids('/workflows/x/steps', 'stepId') ?? '';
  await sql`INSERT INTO execution_steps (execution_id, visit, project_id, step_id, type, status)
    SELECT ${execution}, n, ${project.id}, ${step}, 'DELAY', 'COMPLETED' FROM generate_series(1, 12) AS n`.execute(
    api.db,
  );
  await sql`UPDATE sms_messages SET contact_id = ${id}, sent_at = now(), delivered_at = now(), status = 'DELIVERED'
    WHERE id = ${ids('/sms/x', 'id')}`.execute(api.db);
  const email = await buildEmail(api.db, { projectId: project.id, contactId: id, status: 'FAILED' });
  await sql`UPDATE emails SET reason = 'unsubscribed' WHERE id = ${email}`.execute(api.db);
  // All entries have the same millisecond. Sorted by kind, they are in another order than by id.
  await sql`INSERT INTO events (id, project_id, contact_id, name, data)
    SELECT ('0190a000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, ${project.id}, ${id},
      (ARRAY['email.open', 'zzz', 'contact.subscribed', 'email.bounce'])[1 + n % 4], '{}' FROM generate_series(1, 20) AS n`.execute(
    api.db,
  );
  const all = await readTimeline(id, 100);
  expect(new Set(all.map((item) => item.id)).size).toBe(all.length);
  const types = new Set(all.map(({ type }) => type));
  for (const type of [
    'event.triggered',
    'email.failed',
    'email.opened',
    'sms.sent',
    'sms.delivered',
    'workflow.started',
    'workflow.step',
  ])
    expect(types).toContain(type);
  expect(all.find(({ type }) => type === 'email.failed')?.metadata).toMatchObject({
    emailId: email,
    reason: 'unsubscribed',
  });
  const instants = all.map(({ timestamp }) => timestamp);
  expect(instants).toEqual([...instants].sort().reverse());
  for (const limit of [1, 3, 7]) expect(await readTimeline(id, limit)).toEqual(all);
  const { body } = await call('GET', `/contacts/${id}/timeline?limit=1`);
  expect(body.total).toBe(all.length);
});

it("another project's contact returns 404, and an invalid cursor returns 400", async () => {
  const theirs = await buildContact(api.db, { projectId: api.two.id });
  expect((await call('GET', `/contacts/${theirs}/timeline`)).status).toBe(404);
  const mine = await buildContact(api.db, { projectId: project.id });
  expect((await call('GET', `/contacts/${mine}/timeline?cursor=nope`)).status).toBe(400);
});

it('the timeline shows the subject of an email as it was sent', async () => {
  const { body: contact } = await call('POST', '/contacts', { email: 'grace@to.test', data: { firstName: 'Grace' } });
  const subject = 'News for {{firstName ?? you}}';
  const emailId = await buildEmail(api.db, { projectId: project.id, contactId: contact.id, subject, status: 'FAILED' });
  await sql`UPDATE emails SET reason = 'template_error' WHERE id = ${emailId}`.execute(api.db);
  await sql`INSERT INTO events (project_id, contact_id, email_id, name) VALUES
    (${project.id}, ${contact.id}, ${emailId}, 'email.sent')`.execute(api.db);
  const emails = (await readTimeline(contact.id, 50)).filter(({ type }) => type.startsWith('email.'));
  expect(emails.map(({ type, metadata }) => [type, metadata.subject])).toEqual([
    ['email.sent', 'News for Grace'],
    ['email.failed', 'News for Grace'],
  ]);
});
