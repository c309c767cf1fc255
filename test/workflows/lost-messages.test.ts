import { sql } from 'kysely';
import { v7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { toSearchAttributes } from '../../temporal/search-attributes.ts';
import { type BuildEmail, buildEmail } from '../build/emails.ts';
import { buildDomain } from '../build/senders.ts';
import { connectOperator, type TestOperator } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { until } from '../support/until.ts';

let service: TestService;
let operator: TestOperator;
let sink: SmtpSink;
let deferring = false;

beforeAll(async () => {
  sink = await startSmtpSink({ replyToRcpt: () => (deferring ? '450 4.2.1 Try again later' : null) });
  service = await startTestService({ EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url, SMS_PROVIDER: 'capture' });
  operator = await connectOperator(service);
  await buildDomain(service.db, { projectId: service.one.id, signing: false });
});
beforeEach(() => {
  deferring = false;
  sink.reset();
});
afterAll(async () => {
  await operator?.close();
  await service?.close();
  await sink?.close();
});

/** Builds an email that was accepted hours ago. Returns its id, which contains the time. */
async function buildEmailAcceptedHoursAgo(hoursAgo: number, p: Partial<BuildEmail> = {}): Promise<string> {
  const created = await buildEmail(service.db, { projectId: service.one.id, ...p });
  const id = v7({ msecs: Date.now() - hoursAgo * 3_600_000 });
  await sql`UPDATE emails SET id = ${id} WHERE id = ${created}`.execute(service.db);
  return id;
}

/** Starts a delivery of messages, as handing over their outbox rows does. Returns the workflow id. */
async function startDelivery(type: 'emailDelivery' | 'smsDelivery', ids: string[]): Promise<string> {
  const projectId = service.one.id;
  const workflowId = `delivery-${ids[0]}`;
  await operator.client.workflow.start(type, {
    taskQueue: service.names.taskQueue('workflows'),
    workflowId,
    args: [{ projectId, ...(type === 'emailDelivery' ? { emailIds: ids } : { smsIds: ids }) }],
    typedSearchAttributes: toSearchAttributes(service.names, { projectId }),
  });
  return workflowId;
}

const readEmail = (id: string) =>
  service.db.selectFrom('emails').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const waitForSent = (id: string) =>
  until(async () => {
    const found = await readEmail(id);
    return found.status === 'SENT' && found;
  }, 'the email to be sent');
const waitForAttempt = (id: string) => until(async () => (await readEmail(id)).error !== null, 'the first attempt');

describe('an email whose delivery Temporal has lost', () => {
  it('is sent once', async () => {
    await service.stopWorker();
    const id = await buildEmailAcceptedHoursAgo(1);
    await operator.deleteWorkflows(await startDelivery('emailDelivery', [id]));
    await service.startWorker();
    await operator.runRecovery();
    expect(await waitForSent(id)).toMatchObject({ attempts: 1 });
    await operator.runRecovery();
    expect(sink.counts.messages).toBe(1);
  });

  it('is retried if it waited for its next attempt', async () => {
    deferring = true;
    const id = await buildEmailAcceptedHoursAgo(1);
    const workflowId = await startDelivery('emailDelivery', [id]);
    await waitForAttempt(id);
    await operator.deleteWorkflows(workflowId);
    deferring = false;
    await operator.runRecovery();
    expect(await waitForSent(id)).toMatchObject({ attempts: 2 });
    expect(sink.counts.messages).toBe(1);
  });

  it('is found after more than a day if an operator requests it', async () => {
    const id = await buildEmailAcceptedHoursAgo(72);
    await operator.runRecovery();
    expect(await readEmail(id)).toMatchObject({ status: 'PENDING', delivery_id: null });
    await operator.runRecovery({ messagesOfHours: 96 });
    await waitForSent(id);
  });
});

it('recovery does not send an email of a running delivery', async () => {
  deferring = true;
  const id = await buildEmailAcceptedHoursAgo(1);
  const workflowId = await startDelivery('emailDelivery', [id]);
  await waitForAttempt(id);
  const before = await readEmail(id);
  await operator.runRecovery();
  expect(await readEmail(id)).toEqual(before);
  await operator.client.workflow.getHandle(workflowId).cancel();
  await until(async () => (await readEmail(id)).status === 'FAILED', 'the end of the delivery');
});

/** Builds an email of a SEND_EMAIL step. The visit of the step has this status. */
async function buildEmailOfStep(status: 'RUNNING' | 'COMPLETED' | 'CANCELLED'): Promise<string> {
  const id = await buildEmailAcceptedHoursAgo(1, { sourceType: 'WORKFLOW' });
  await sql`
    WITH w AS (INSERT INTO workflows (project_id, name) VALUES (${service.one.id}, 'Test') RETURNING id), e AS (
      INSERT INTO executions (project_id, workflow_id, contact_id, entry, visit, status, completed_at)
      SELECT ${service.one.id}, id, uuidv7(), 1, 1, 'COMPLETED', now() FROM w RETURNING id), s AS (
      INSERT INTO execution_steps (execution_id, visit, project_id, step_id, type, status, completed_at)
      SELECT id, 1, ${service.one.id}, uuidv7(), 'SEND_EMAIL', ${status}, now() - interval '1 hour' FROM e)
    UPDATE emails SET execution_id = e.id, visit = 1 FROM e WHERE emails.id = ${id}
  `.execute(service.db);
  return id;
}

it('recovery sends no email of a campaign or of a RUNNING step, but sends the email of a COMPLETED step, as after a release', async () => {
  const ofCampaign = await buildEmailAcceptedHoursAgo(1, { sourceType: 'CAMPAIGN' });
  await sql`UPDATE emails SET campaign_id = uuidv7() WHERE id = ${ofCampaign}`.execute(service.db);
  const ofStep = await buildEmailOfStep('RUNNING');
  const released = await buildEmailOfStep('COMPLETED');
  await operator.runRecovery();
  await waitForSent(released);
  expect(await readEmail(ofCampaign)).toMatchObject({ status: 'PENDING' });
  expect(await readEmail(ofStep)).toMatchObject({ status: 'PENDING' });
});

it('an email that waited for its next attempt when its execution was cancelled is FAILED as cancelled', async () => {
  const id = await buildEmailOfStep('CANCELLED');
  await sql`UPDATE emails SET status = 'SENDING', attempts = 1, error = '450 later' WHERE id = ${id}`.execute(
    service.db,
  );
  await operator.runRecovery();
  expect(await readEmail(id)).toMatchObject({ status: 'FAILED', reason: 'cancelled', error: '450 later' });
});

it('an SMS whose delivery Temporal has lost is sent once', async () => {
  const id = v7({ msecs: Date.now() - 3_600_000 });
  const project = service.one.id;
  await sql`
    INSERT INTO sms_messages (id, project_id, to_phone, from_phone, country, body, encoding, segments)
    VALUES (${id}, ${project}, '+4915100000001', '+15005550006', 'DE', 'Hi', 'GSM7', 1)
  `.execute(service.db);
  await service.stopWorker();
  await operator.deleteWorkflows(await startDelivery('smsDelivery', [id]));
  await service.startWorker();
  await operator.runRecovery();
  const readSms = () =>
    service.db.selectFrom('sms_messages').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  await until(async () => (await readSms()).status === 'SENT', 'the SMS to be sent');
  expect(await readSms()).toMatchObject({ attempts: 1 });
});

it('held email of a released project is sent although the release was lost, and email of a held project stays HELD', async () => {
  const ids = [
    await buildEmailAcceptedHoursAgo(1, { status: 'HELD' }),
    await buildEmailAcceptedHoursAgo(48, { status: 'HELD' }),
  ];
  const onHold = await buildEmailAcceptedHoursAgo(1, { status: 'HELD', projectId: service.two.id });
  await sql`UPDATE projects SET held_at = now() WHERE id = ${service.two.id}`.execute(service.db);
  await operator.runRecovery();
  for (const id of ids) await waitForSent(id);
  expect(await readEmail(onHold)).toMatchObject({ status: 'HELD' });
});

it('subscribers of a variant are notified, although Temporal has lost the restock job', async () => {
  const project = service.one.id;
  await sql`
    WITH c AS (
      INSERT INTO contacts (project_id, email, subscribed)
      SELECT ${project}, 'waits' || i || '@example.com', false FROM generate_series(1, 3) i RETURNING id), v AS (
      INSERT INTO storefront_variants (project_id, variant_id, product_title, title, available, restock_no)
      VALUES (${project}, '7', 'Jumper', 'Blue', true, 1) RETURNING variant_id)
    INSERT INTO back_in_stock_waits (project_id, variant_id, contact_id) SELECT ${project}, v.variant_id, c.id FROM c, v
  `.execute(service.db);
  await operator.runRecovery();
  const countNotices = async () => {
    const { rows } = await sql`
      SELECT contact_id FROM events WHERE project_id = ${project} AND name = 'shopify.back_in_stock'`.execute(
      service.db,
    );
    return rows.length;
  };
  await until(async () => (await countNotices()) === 3, 'the notices');
  await operator.runRecovery();
  expect(await countNotices()).toBe(3);
});
