import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildContact } from '../../build/emails.ts';
import { buildProject, startTestApi, type TestApi, type TestProject } from '../../support/api.ts';
import { buildEverything } from '../../support/everything.ts';

let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  api = await startTestApi();
  project = await buildProject(api.db, 'Dossier');
});
afterAll(() => api?.close());

const call = (method: string, path: string, body?: unknown) =>
  api.call(method, path, { key: project.secretKey, ...(body !== undefined && { body }) });

it('the export of one contact has everything about it in one JSON object, and nothing about other contacts', async () => {
  const ids = await buildEverything(api.db, project.id);
  const id = ids('/contacts/x', 'id') ?? '';
  await api.db.updateTable('sms_messages').set({ contact_id: id }).where('project_id', '=', project.id).execute();
  const { body: contact } = await call('GET', `/contacts/${id}`);
  for (let n = 0; n < 3; n++) await call('POST', '/v1/track', { email: contact.email, event: `step-${n}` });
  await call('POST', '/suppressions', { email: contact.email, reason: 'unsubscribe' });
  const condition = { operator: 'AND', conditions: [{ field: 'event.step-1', operator: 'triggered' }] };
  const inside = await call('POST', '/segments', { name: 'Inside', condition });
  const outside = { operator: 'AND', conditions: [{ field: 'event.step-1', operator: 'notTriggered' }] };
  await call('POST', '/segments', { name: 'Outside', condition: outside });
  const byHand = await call('POST', '/segments', { name: 'By hand', type: 'STATIC' });
  await call('POST', `/segments/${byHand.body.id}/members`, { emails: [contact.email] });
  await call('POST', '/v1/track', { email: 'other@to.test', event: 'not-mine' });

  const { status, headers, body } = await call('GET', `/v1/contacts/${id}/export`);
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
  expect(body.contact).toMatchObject({ id, email: contact.email, subscribed: false });
  expect(body.suppressions).toMatchObject([{ reason: 'unsubscribe', source: 'api' }]);
  expect(body.emails.map((email: { id: string }) => email.id)).toEqual([ids('/emails/x', 'id')]);
  expect(body.sms.map((sms: { id: string }) => sms.id)).toEqual([ids('/sms/x', 'id')]);
  expect(body.events.map((event: { name: string }) => event.name)).toEqual(
    expect.arrayContaining(['step-0', 'step-1', 'step-2', 'contact.unsubscribed']),
  );
  expect(JSON.stringify(body)).not.toContain('not-mine');
  expect(body.executions.map((one: { id: string }) => one.id)).toContain(ids('/workflows/x/executions', 'executionId'));
  const segments = body.segments.map((segment: { id: string }) => segment.id);
  expect(segments.sort()).toEqual([inside.body.id, byHand.body.id].sort());
});

it("another project's contact returns 404", async () => {
  const theirs = await buildContact(api.db, { projectId: api.two.id });
  expect((await call('GET', `/contacts/${theirs}/export`)).status).toBe(404);
  expect((await call('GET', '/contacts/export/export')).status).toBe(404);
});
