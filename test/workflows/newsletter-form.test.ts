import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildDomain, buildTemplate } from '../build/senders.ts';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import type { CallResult } from '../support/api.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { until } from '../support/until.ts';

// A newsletter form on the page of a shop. The form uses the public key, and an automation sends the first email.
let sink: SmtpSink;
let service: TestService;

beforeAll(async () => {
  sink = await startSmtpSink({ keepBodies: true });
  service = await startTestService({ EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url });
  const projectId = service.one.id;
  await buildDomain(service.db, { projectId });
  const templateId = await buildTemplate(service.db, {
    projectId,
    type: 'MARKETING',
    subject: 'Welcome, {{firstName}}',
  });
  await buildWorkflow(service, {
    eventName: 'newsletter_form',
    allowReentry: true,
    steps: { mail: { type: 'SEND_EMAIL', config: { templateId } } },
  });
});
afterAll(async () => {
  await service?.close();
  await sink?.close();
});

const submitForm = (email: string, data: object, idempotencyKey?: string): Promise<CallResult> =>
  service.call('POST', '/v1/track', {
    key: service.one.publicKey,
    body: { email, event: 'newsletter_form', subscribed: true, data },
    headers: { origin: 'https://shop.example', ...(idempotencyKey && { 'idempotency-key': idempotencyKey }) },
  });
const listEmailsTo = (email: string) => sink.bodies.filter((body) => body.includes(`To: ${email}`));
const findContact = async (email: string) =>
  (await expectOk(service.call('GET', `/contacts?search=${encodeURIComponent(email)}`))).data[0];
/** Returns the steps of the executions that submissions of the form started, once all of them have ended. */
async function readSteps(email: string, count: number): Promise<string[]> {
  const { id } = await findContact(email);
  return until(async () => {
    const { rows } = await sql<{ status: string }>`
      SELECT s.status FROM execution_steps s JOIN executions e ON e.id = s.execution_id
      WHERE e.contact_id = ${id} AND e.status NOT IN ('RUNNING', 'WAITING') ORDER BY e.id, s.visit`.execute(service.db);
    return rows.length === count && rows.map((row) => row.status);
  }, `${count} ended steps`);
}

it('a newsletter form subscribes a contact, who gets the email', async () => {
  const response = await submitForm('ann@example.com', { firstName: 'Ann' });
  expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
  expect(await findContact('ann@example.com')).toMatchObject({ subscribed: true, data: { firstName: 'Ann' } });
  await until(async () => listEmailsTo('ann@example.com').length === 1, 'the email');
  expect(listEmailsTo('ann@example.com')[0]).toMatch(/^Subject: Welcome, Ann\r$/m);
});

it('a form that is sent twice counts once, and returns the first response', async () => {
  const [first, second] = await Promise.all([
    submitForm('ben@example.com', { firstName: 'Ben' }, 'form-load-1'),
    submitForm('ben@example.com', { firstName: 'Ben' }, 'form-load-1'),
  ]);
  const responses = [first, second].sort((a, b) => a.status - b.status);
  expect(responses.map(({ status }) => status)).toEqual([200, 409]);
  expect(responses[1]?.body.error).toMatchObject({
    code: 'IDEMPOTENCY_KEY_REUSED',
    details: { originalResponse: responses[0]?.body },
  });
  expect(await readSteps('ben@example.com', 1)).toEqual(['COMPLETED']);
  await until(async () => listEmailsTo('ben@example.com').length === 1, 'the email');
});

it('the form does not remove the refusal of a person who unsubscribed, and its response does not reveal the refusal', async () => {
  const before = await submitForm('cleo@example.com', { firstName: 'Cleo' });
  expect(await readSteps('cleo@example.com', 1)).toEqual(['COMPLETED']);
  const email = await until(async () => listEmailsTo('cleo@example.com')[0], 'the email');
  const link = /^List-Unsubscribe: <(http[^>]+)>/im.exec(email.replace(/\r\n[ \t]+/g, ' '))?.[1] ?? '';
  const left = await fetch(service.baseUrl + new URL(link).pathname, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  });
  expect(left.status).toBe(200);
  expect((await findContact('cleo@example.com')).subscribed).toBe(false);

  const again = await submitForm('cleo@example.com', { firstName: 'Cleo' });
  const newContact = await submitForm('nobody-yet@example.com', { firstName: 'N' });
  const describeResponse = ({ status, body }: CallResult) => [status, Object.keys(body.data), typeof body.data.contact];
  expect(describeResponse(again)).toEqual(describeResponse(newContact));
  expect(again.body.data.contact).toBe(before.body.data.contact);
  expect((await findContact('cleo@example.com')).subscribed).toBe(false);
  expect(await readSteps('cleo@example.com', 2)).toEqual(['COMPLETED', 'SKIPPED']);
  expect(listEmailsTo('cleo@example.com')).toHaveLength(1);

  // The form cannot subscribe the person even if the project deletes the suppression. Only the person or the project
  // can.
  expect((await service.call('DELETE', '/suppressions/cleo@example.com')).status).toBe(204);
  await submitForm('cleo@example.com', { firstName: 'Cleo' });
  expect((await findContact('cleo@example.com')).subscribed).toBe(false);
});

it('the form adds a field to an existing contact, and changes no value of the project', async () => {
  const data = { firstName: 'Dora', plan: 'pro' };
  await expectOk(service.call('POST', '/contacts', { body: { email: 'dora@example.com', subscribed: true, data } }));
  expect((await submitForm('dora@example.com', { firstName: 'Mallory', plan: null, shoeSize: 38 })).status).toBe(200);
  expect(await findContact('dora@example.com')).toMatchObject({ subscribed: true, data: { ...data, shoeSize: 38 } });
  expect((await submitForm('dora@example.com', { shoeSize: 39 })).status).toBe(200);
  expect((await findContact('dora@example.com')).data).toEqual({ ...data, shoeSize: 39 });
});

it('the form subscribes a customer who has only received a receipt', async () => {
  const email = { from: 'x@shop.example.com', subject: 'Receipt', body: '<p>Thanks</p>' };
  await expectOk(service.call('POST', '/v1/send', { body: { ...email, to: 'emil@example.com' } }));
  expect((await findContact('emil@example.com')).subscribed).toBe(false);
  await submitForm('emil@example.com', {});
  expect((await findContact('emil@example.com')).subscribed).toBe(true);
});

it('the form cannot prevent a password reset, with any input', async () => {
  await expectOk(service.call('POST', '/contacts', { body: { email: 'finn@example.com', data: { plan: 'pro' } } }));
  const rubbish = Object.fromEntries(Array.from({ length: 199 }, (_, n) => [`field${n}`, 'x']));
  await submitForm('finn@example.com', rubbish);
  const email = { from: 'x@shop.example.com', subject: 'Reset {{resetCode}}', body: '<p>{{resetCode}}</p>' };
  await expectOk(
    service.call('POST', '/v1/send', {
      body: { ...email, to: ['finn@example.com', 'gina@example.com'], data: { resetCode: '123456' } },
    }),
  );
  await until(
    async () => listEmailsTo('finn@example.com').some((body) => body.includes('Reset 123456')),
    'the reset email',
  );
});
