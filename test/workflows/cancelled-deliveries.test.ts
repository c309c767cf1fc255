import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { enqueue } from '../../db/outbox/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import { buildEmail } from '../build/emails.ts';
import { buildDomain } from '../build/senders.ts';
import { expectOk } from '../build/workflows.ts';
import { handOverToTemporal } from '../support/hand-over.ts';
import { connectOperator, type TestOperator } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { until } from '../support/until.ts';

let service: TestService;
let operator: TestOperator;
let sink: SmtpSink;

beforeAll(async () => {
  sink = await startSmtpSink({ replyToRcpt: (to) => (/later/.test(to) ? '450 4.2.1 Try again later' : null) });
  service = await startTestService({ EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url, SMS_PROVIDER: 'capture' });
  operator = await connectOperator(service);
  await buildDomain(service.db, { projectId: service.one.id, signing: false });
  await service.db
    .insertInto('sms_senders')
    .values({ project_id: service.one.id, country: null, from_phone: '+15005550006' })
    .execute();
});
beforeEach(() => sink.reset());
afterAll(async () => {
  await operator?.close();
  await service?.close();
  await sink?.close();
});

async function send(...to: string[]): Promise<string[]> {
  const body = { to, from: 'x@shop.example.com', subject: 'Hi', body: '<p>Hello</p>' };
  const { data } = await expectOk(service.call('POST', '/v1/send', { body }));
  return data.emails.map(({ email }: { email: string }) => email);
}
const readEmail = async (id: string | undefined) => (await expectOk(service.call('GET', `/v1/emails/${id}`))).data;

/** Starts a delivery in Temporal, as a worker does for a message whose first attempt was interrupted. */
async function handToTemporal(kind: 'email.retry' | 'sms.retry', refId: string): Promise<void> {
  await inTransaction(service.db, (trx) => enqueue(trx, [{ projectId: service.one.id, kind, refId }]));
  await handOverToTemporal(service, refId);
}

/** Waits until Temporal lists running deliveries of this type, and returns their ids. */
const waitForDeliveries = (type: string) =>
  until(async () => {
    const found: string[] = [];
    const query = `WorkflowType = '${type}' AND ExecutionStatus = 'Running'`;
    for await (const { workflowId } of operator.client.workflow.list({ query })) found.push(workflowId);
    return found.length > 0 && found;
  }, `a running ${type}`);

async function cancelAll(type: string): Promise<void> {
  for (const workflowId of await waitForDeliveries(type)) await operator.client.workflow.getHandle(workflowId).cancel();
}

it('cancelling a delivery in Temporal makes waiting messages FAILED as cancelled, and does not change sent ones', async () => {
  const [sent, waiting] = await send('now@example.com', 'later@example.com');
  await until(
    async () => (await readEmail(waiting)).error !== null && (await readEmail(sent)).status === 'SENT',
    'the first attempt',
  );
  await cancelAll('emailDelivery');
  await until(async () => (await readEmail(waiting)).status === 'FAILED', 'the end of the email');
  expect(await readEmail(waiting)).toMatchObject({
    reason: 'cancelled',
    error: expect.stringContaining('Try again later'),
  });
  expect(await readEmail(sent)).toMatchObject({ status: 'SENT', reason: null });
});

it('an email whose delivery is cancelled before its first attempt is never sent, and recovery does not restart it', async () => {
  await service.stopWorker();
  const id = await buildEmail(service.db, { projectId: service.one.id, to: 'unsent@example.com' });
  await handToTemporal('email.retry', id);
  await cancelAll('emailDelivery');
  await service.startWorker();
  await until(async () => (await readEmail(id)).status === 'FAILED', 'the end of the email');
  await operator.runRecovery();
  expect(await readEmail(id)).toMatchObject({ status: 'FAILED', reason: 'cancelled' });
  expect(sink.counts.messages).toBe(0);
});

it('an SMS whose delivery is cancelled becomes FAILED like an email', async () => {
  await service.stopWorker();
  const body = { to: '+4915100000001', body: 'Hi' };
  const { id } = await expectOk(service.call('POST', '/v1/sms/send', { body }));
  await service.db.deleteFrom('outbox').where('ref_id', '=', id).execute();
  await handToTemporal('sms.retry', id);
  await cancelAll('smsDelivery');
  await service.startWorker();
  const sms = await until(async () => {
    const { data } = await expectOk(service.call('GET', `/v1/sms/${id}`));
    return data.status !== 'PENDING' && data;
  }, 'the end of the SMS');
  expect(sms).toMatchObject({ status: 'FAILED', sentAt: null });
  const { reason } = await service.db
    .selectFrom('sms_messages')
    .select('reason')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  expect(reason).toBe('cancelled');
});
