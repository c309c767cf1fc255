import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SendEmailsInput, SendEmailsResult } from '../../activities/emails/deliveries.ts';
import { buildContact } from '../build/emails.ts';
import { buildDomain } from '../build/senders.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createTestTemporal } from '../support/services.ts';
import { until } from '../support/until.ts';
import { withWorkers } from '../support/with-workers.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  await buildDomain(service.db, { projectId: service.one.id });
  await service.db
    .insertInto('sms_senders')
    .values({ project_id: service.one.id, country: null, from_phone: '+15005550006' })
    .execute();
});
afterAll(() => service?.close());

const createEmailBody = (to: unknown) => ({
  to,
  from: 'x@shop.example.com',
  subject: 'Hi {{email}}',
  body: '<p>Hello</p>',
});

async function send(to: unknown): Promise<string[]> {
  const { status, body } = await service.call('POST', '/v1/send', { body: createEmailBody(to) });
  expect(status).toBe(200);
  return body.data.emails.map((entry: { email: string }) => entry.email);
}
const findCaptured = async (to: string) =>
  (await service.call('GET', `/mailbox.json?to=${encodeURIComponent(to)}`, { key: null })).body.data;

it('an accepted email arrives in the mailbox and is recorded as SENT', async () => {
  const [id] = await send('first@example.com');
  const [seen] = await until(async () =>
    (await findCaptured('first@example.com')).length > 0 ? findCaptured('first@example.com') : null,
  );
  expect(seen).toMatchObject({ from: 'x@shop.example.com', subject: 'Hi first@example.com' });
  const record = await until(async () => {
    const { data } = (await service.call('GET', `/v1/emails/${id}`)).body;
    return data.status === 'SENT' ? data : undefined;
  });
  expect(record.events.map((event: { name: string }) => event.name)).toEqual(['email.sent']);
});

it('each email of many concurrent clients arrives once', async () => {
  const addresses = Array.from({ length: 150 }, (_, i) => `burst${i}@example.com`);
  const ids = (await Promise.all(addresses.map((address) => send(address)))).flat();
  await until(async () => {
    const rows = await service.db.selectFrom('emails').select('status').where('id', 'in', ids).execute();
    return rows.every((row) => row.status === 'SENT');
  });
  const attempts = await service.db.selectFrom('emails').select('attempts').where('id', 'in', ids).execute();
  expect(new Set(attempts.map((row) => row.attempts))).toEqual(new Set([1]));
});

it('emails keep the send rate of their project', async () => {
  await buildDomain(service.db, { projectId: service.two.id });
  await service.db.updateTable('projects').set({ send_rate_per_second: 10 }).where('id', '=', service.two.id).execute();
  const to = Array.from({ length: 40 }, (_, i) => `slow${i}@example.com`);
  const { body } = await service.call('POST', '/v1/send', { key: service.two.secretKey, body: createEmailBody(to) });
  const ids = body.data.emails.map((entry: { email: string }) => entry.email);
  const rows = await until(async () => {
    const all = await service.db.selectFrom('emails').select('sent_at').where('id', 'in', ids).execute();
    return all.every((row) => row.sent_at !== null) ? all : undefined;
  });
  const times = rows.map((row) => row.sent_at?.getTime() ?? 0).sort((a, b) => a - b);
  // The rate allows two emails immediately, and then ten per second.
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(2_400);
});

it('an SMS is stored by the capture provider, and no SMS is sent to a contact that replied STOP', async () => {
  const sendSms = async (to: string) =>
    (await service.call('POST', '/v1/sms/send', { body: { to, body: 'Hi' } })).body.id;
  const to = '+4915100000001';
  const stopped = '+4915100000002';
  const contactId = await buildContact(service.db, { projectId: service.one.id, data: { phone: stopped } });
  await service.db.updateTable('contacts').set({ sms_subscribed: false }).where('id', '=', contactId).execute();
  const ids = [await sendSms(to), await sendSms(stopped)];
  const [sent, refused] = await until(async () => {
    const all = await Promise.all(ids.map(async (id) => (await service.call('GET', `/v1/sms/${id}`)).body.data));
    return all.every((one) => one.status !== 'PENDING') ? all : undefined;
  });
  expect([sent.status, refused.status, refused.reason]).toEqual(['SENT', 'FAILED', 'sms_stopped']);
  const { body } = await service.call('GET', '/mailbox/sms.json', { key: null });
  expect(body.data.map((one: { to: string }) => one.to)).toEqual([to]);
});

it('a delivery retries only deferred messages, at their time', async () => {
  const temporal = await createTestTemporal();
  const calls: string[][] = [];
  const simulateSending = async ({ mails }: SendEmailsInput): Promise<SendEmailsResult> => {
    calls.push(mails.map(({ id }) => id));
    const dueAt = new Date(Date.now() + 1_000).toISOString();
    return calls.length === 1
      ? { sent: 2, other: 0, waiting: [{ id: 'b', dueAt }] }
      : { sent: 1, other: 0, waiting: [] };
  };
  const story = await withWorkers(
    temporal,
    { taskQueue: 'transactional', activities: { sendMails: simulateSending } },
    (client) =>
      client.workflow.execute('emailDelivery', {
        taskQueue: 'workflows',
        workflowId: 'delivery-test',
        args: [{ projectId: 'p', emailIds: ['a', 'b', 'c'] }],
      }),
  );
  expect(calls).toEqual([['a', 'b', 'c'], ['b']]);
  expect(story).toBe('3 sent');
});
