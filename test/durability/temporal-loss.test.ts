import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { v7 } from 'uuid';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readInstallationNames } from '../support/names.ts';
import { callService, startSmtpService } from '../support/smtp/smtp-service.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { createHomePath, removeHome, type StartedService, waitForCondition } from '../support/start.ts';

const CONTACTS = 25;

let home: string;
let sink: SmtpSink;
let service: StartedService;
let deferring = false;

beforeAll(async () => {
  home = createHomePath();
  sink = await startSmtpSink({ replyToRcpt: (to) => (deferring && to.includes('lost-') ? '450 4.2.1 Later' : null) });
  service = await startSmtpService(home, sink.url);
});

afterAll(async () => {
  service?.signal('SIGTERM');
  await service?.exited;
  await sink?.close();
  await removeHome(home);
});

const call = (method: string, path: string, body?: unknown) => callService(service, method, path, body);
const waitUntil = (condition: () => Promise<boolean>) => waitForCondition(service, condition);

/** Returns the recipients with this prefix, and the number of emails that each got. */
const listReceived = (prefix: string) =>
  [...sink.perRecipient()].filter(([to]) => to.includes(prefix)).map(([, n]) => n);

it('work in Postgres continues after Temporal has lost its database', async () => {
  const workflowId = await createWorkflow();
  await forEachContact((n) =>
    call('POST', '/v1/track', { email: `contact-${n}@example.com`, event: 'enter', subscribed: true }),
  );
  const campaignId = await scheduleCampaign();
  deferring = true;
  const from = `hello@${service.dev().domain}`;
  const email = { from, to: 'lost-1@example.com', subject: 'S', body: '<p>Hello</p>' };
  await call('POST', '/v1/send', email);
  await waitUntil(async () => (await runQuery(`SELECT 1 FROM emails WHERE error LIKE '450%'`)).length === 1);
  await waitUntil(async () => (await runQuery('SELECT 1 FROM outbox')).length === 0);
  // Makes the email look as if it had been accepted an hour ago.
  await runQuery('UPDATE emails SET id = $1', [v7({ msecs: Date.now() - 3_600_000 })]);

  await loseTemporal();
  deferring = false;
  await runRecovery();

  await forEachContact((n) => call('POST', '/v1/track', { email: `contact-${n}@example.com`, event: 'go' }));
  await waitUntil(
    async () => (await call('GET', `/workflows/${workflowId}/executions?status=COMPLETED`)).total === CONTACTS,
  );
  await waitUntil(async () => listReceived('lost-').length === 1);
  expect([listReceived('contact-'), listReceived('lost-')]).toEqual([Array(CONTACTS).fill(1), [1]]);
  await call('POST', `/campaigns/${campaignId}/send`, { scheduledFor: new Date(Date.now() + 500).toISOString() });
  await waitUntil(async () => (await call('GET', `/campaigns/${campaignId}`)).status === 'SENT');
  expect(listReceived('contact-')).toEqual(Array(CONTACTS).fill(2));
});

const forEachContact = (work: (n: number) => Promise<unknown>) =>
  Promise.all(Array.from({ length: CONTACTS }, (_, n) => work(n)));

/** Builds a workflow that waits for an event without a deadline, and then sends an email. */
async function createWorkflow(): Promise<string> {
  const template = { subject: 'S', body: '<p>Hello</p>', type: 'TRANSACTIONAL', from: `hello@${service.dev().domain}` };
  const { id: templateId } = await call('POST', '/templates', { name: 'T', ...template });
  const { id } = await call('POST', '/workflows', { name: 'Loss', eventName: 'enter' });
  await call('POST', `/workflows/${id}/steps`, {
    type: 'WAIT_FOR_EVENT',
    config: { eventName: 'go' },
    autoConnect: true,
  });
  await call('POST', `/workflows/${id}/steps`, { type: 'SEND_EMAIL', config: { templateId }, autoConnect: true });
  await call('PATCH', `/workflows/${id}`, { enabled: true });
  return id;
}

async function scheduleCampaign(): Promise<string> {
  const filters = {
    logic: 'AND',
    groups: [{ filters: [{ field: 'email', operator: 'startsWith', value: 'contact-' }] }],
  };
  const news = { name: 'News', subject: 'News', body: '<p>News</p>', from: `hello@${service.dev().domain}` };
  const { data } = await call('POST', '/campaigns', { ...news, audienceType: 'FILTERED', filters });
  await call('POST', `/campaigns/${data.id}/send`, { scheduledFor: new Date(Date.now() + 3_600_000).toISOString() });
  return data.id;
}

async function loseTemporal(): Promise<void> {
  service.signal('SIGTERM');
  await service.exited;
  rmSync(join(home, 'temporal'), { recursive: true });
  service = await startSmtpService(home, sink.url);
}

/**
 * Triggers the schedule of recovery, as `temporal schedule trigger --schedule-id <installation>-recovery` does. This
 * also proves that the schedule exists again.
 */
async function runRecovery(): Promise<void> {
  const { address, namespace } = service.dev().temporal;
  const client = new Client({ connection: await Connection.connect({ address }), namespace });
  const schedule = client.schedule.getHandle((await readInstallationNames(service)).schedule('recovery'));
  await schedule.trigger();
  await waitUntil(async () => {
    const [action] = (await schedule.describe()).info.recentActions;
    if (action?.action.type !== 'startWorkflow') return false;
    const { workflowId, firstExecutionRunId } = action.action.workflow;
    const { status } = await client.workflow.getHandle(workflowId, firstExecutionRunId).describe();
    return status.name === 'COMPLETED';
  });
  await client.connection.close();
}

async function runQuery(text: string, values: unknown[] = []): Promise<unknown[]> {
  const connection = new pg.Client(service.dev().databaseUrl);
  await connection.connect();
  const { rows } = await connection.query(text, values);
  await connection.end();
  return rows;
}
