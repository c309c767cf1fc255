import { Client, Connection } from '@temporalio/client';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createImportJob } from '../../db/contacts/jobs.ts';
import { deleteOutboxRows, enqueue } from '../../db/outbox/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import { readCsvLayout } from '../../rules/contacts/csv-layout.ts';
import { countCsvRows } from '../../rules/contacts/csv-rows.ts';
import { buildEmail } from '../build/emails.ts';
import { buildDomain } from '../build/senders.ts';
import { expectOk } from '../build/workflows.ts';
import { handOverToTemporal } from '../support/hand-over.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

let service: TestService;
let sink: SmtpSink;
let client: Client;
let rounds = 0;

beforeAll(async () => {
  sink = await startSmtpSink();
  service = await startTestService({ EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url });
  const { address, namespace } = service.temporal;
  client = new Client({ connection: await Connection.connect({ address }), namespace });
  await buildDomain(service.db, { projectId: service.one.id, signing: false });
});
beforeEach(() => sink.reset());
afterAll(async () => {
  await client?.connection.close();
  await service?.close();
  await sink?.close();
});

/** Runs one round of recovery, as the schedule does every 5 minutes. */
async function runRecovery(): Promise<void> {
  rounds += 1;
  await client.workflow.execute('recoveryRound', {
    taskQueue: service.names.taskQueue('workflows'),
    workflowId: service.names.schedule(`recovery-${rounds}`),
  });
}

const readEmail = (id: string) =>
  service.db.selectFrom('emails').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const waitForSent = (id: string) =>
  until(async () => {
    const email = await readEmail(id);
    return email.status === 'SENT' ? email : undefined;
  }, 'the email to be sent');
/** Terminates all running email deliveries, as an operator does in Temporal's UI. Returns when Temporal lists none. */
async function terminateDeliveries(): Promise<void> {
  const query = `WorkflowType = 'emailDelivery' AND ExecutionStatus = 'Running'`;
  const ids = await until(async () => {
    const found: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query })) found.push(workflowId);
    return found.length > 0 ? found : undefined;
  }, 'a running delivery');
  for (const id of ids) await client.workflow.getHandle(id).terminate('a test');
  await until(async () => (await client.workflow.count(query)).count === 0, 'the end of the deliveries');
}

/** Hands an email to Temporal while no worker runs, as after a deferred or interrupted first attempt. */
async function handOverRetry(p: { attempts: number; dueAt?: string }): Promise<string> {
  const id = await buildEmail(service.db, { projectId: service.one.id });
  await sql`UPDATE emails SET attempts = ${p.attempts} WHERE id = ${id}`.execute(service.db);
  const payload = p.dueAt === undefined ? {} : { dueAt: p.dueAt };
  await inTransaction(service.db, (trx) =>
    enqueue(trx, [{ projectId: service.one.id, kind: 'email.retry', refId: id, payload }]),
  );
  await handOverToTemporal(service, id);
  return id;
}

it('an email whose delivery was terminated before its first attempt is sent once', async () => {
  await service.stopWorker();
  const id = await handOverRetry({ attempts: 0 });
  await terminateDeliveries();
  await service.startWorker();
  await runRecovery();
  expect(await waitForSent(id)).toMatchObject({ attempts: 1 });
  await runRecovery();
  expect(sink.counts.messages).toBe(1);
});

it('an email whose delivery was terminated while it waited for its next attempt is retried', async () => {
  await service.stopWorker();
  const id = await handOverRetry({ attempts: 1, dueAt: new Date(Date.now() + 1_000).toISOString() });
  await terminateDeliveries();
  await service.startWorker();
  await runRecovery();
  expect(await waitForSent(id)).toMatchObject({ attempts: 2 });
  expect(sink.counts.messages).toBe(1);
});

it('a job that was terminated is cancelled with the reason', async () => {
  await service.stopWorker();
  const { id } = await buildImport('email\nterminated@import.test\n');
  await until(() => readStatus(service.names.job(id)), 'the workflow');
  await client.workflow.getHandle(service.names.job(id)).terminate('a test');
  await service.startWorker();
  await runRecovery();
  const job = await expectOk(service.call('GET', `/contacts/import/${id}`));
  expect(job).toMatchObject({ status: 'CANCELLED', failedReason: 'An operator terminated the job.' });
});

it('a job that Temporal has lost continues', async () => {
  const { id, outbox } = await buildImport('email\nforgotten@import.test\n', { dispatched: false });
  await deleteOutboxRows(
    service.db,
    outbox.map((row) => row.id),
  );
  await runRecovery();
  const job = await until(async () => {
    const found = await expectOk(service.call('GET', `/contacts/import/${id}`));
    return found.status === 'COMPLETED' && found;
  }, 'the end of the job');
  expect(job).toMatchObject({ processed: 1, result: { createdCount: 1 } });
});

it('webhooks whose workflow was terminated are delivered', async () => {
  let broken = true;
  const receiver = await startWebhookReceiver((_, response) => response.writeHead(broken ? 503 : 200).end());
  const body = { url: receiver.url, events: ['lost'] };
  const { id } = await expectOk(service.call('POST', '/webhooks', { body }));
  await expectOk(service.call('POST', '/v1/track', { body: { email: 'a@example.com', event: 'lost' } }));
  const listDeliveries = async () => (await expectOk(service.call('GET', `/webhooks/${id}/deliveries`))).data;
  const workflow = client.workflow.getHandle(service.names.webhooks(id));
  await until(async () => {
    const history = await workflow.fetchHistory().catch(() => undefined);
    return history?.events?.some((event) => event.timerStartedEventAttributes);
  }, 'the wait for the second attempt');
  await workflow.terminate('a test');
  broken = false;
  // Makes the next attempt look as if it had been due an hour ago.
  await sql`UPDATE webhook_deliveries SET next_attempt_at = now() - interval '1 hour' WHERE endpoint_id = ${id}`.execute(
    service.db,
  );
  await runRecovery();
  await until(async () => (await listDeliveries())[0]?.status === 'DELIVERED', 'the delivery');
  await receiver.close();
});

/**
 * Builds an import that was accepted an hour ago. With `dispatched`, its workflow is running and its outbox row
 * deleted.
 */
async function buildImport(csv: string, { dispatched = true } = {}) {
  const file = Buffer.from(csv);
  const layout = readCsvLayout(file);
  const rows = countCsvRows(file, layout);
  const p = { projectId: service.one.id, file, layout, rows, text: false, mode: 'live' as const };
  const job = await inTransaction(service.db, async (trx) => {
    const created = await createImportJob(trx, p);
    await sql`UPDATE jobs SET created_at = now() - interval '1 hour' WHERE id = ${created.id}`.execute(trx);
    return created;
  });
  if (dispatched) {
    await client.workflow.start('contactImport', {
      taskQueue: service.names.taskQueue('workflows'),
      workflowId: service.names.job(job.id),
      args: [{ projectId: p.projectId, jobId: job.id, kind: 'import' }],
    });
    await deleteOutboxRows(
      service.db,
      job.outbox.map(({ id }) => id),
    );
  }
  return job;
}

async function readStatus(workflowId: string): Promise<string | undefined> {
  return (
    await client.workflow
      .getHandle(workflowId)
      .describe()
      .catch(() => undefined)
  )?.status.name;
}
