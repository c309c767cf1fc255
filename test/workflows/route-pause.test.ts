import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { buildContacts, createCampaignBody } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject, type TestProject } from '../support/api.ts';
import { connectLifecycle } from '../support/lifecycle.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { listSummaries } from '../support/temporal-data.ts';
import { until } from '../support/until.ts';

/** The reply that Postfix's submission service sends by default to a client that did not sign in. */
const DENIED = (to: string) => `554 5.7.1 <${to}>: Recipient address rejected: Access denied`;
const COUNT = 150;

let service: TestService;
let sink: SmtpSink;
let project: TestProject;
let isClosed = true;

beforeAll(async () => {
  sink = await startSmtpSink({ replyToRcpt: (to) => (isClosed ? DENIED(to) : null) });
  service = await startTestService({ EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url });
});
beforeEach(async () => {
  project = await buildProject(service.db, 'First hop');
  await buildDomain(service.db, { projectId: project.id, domain: 'sender.test', signing: false });
});
afterAll(async () => {
  await service?.close();
  await sink?.close();
});

async function countStatuses(): Promise<Record<string, number>> {
  const { rows } = await sql<{ status: string; n: number }>`
    SELECT status || coalesce(' ' || reason, '') AS status, count(*) AS n FROM emails
    WHERE project_id = ${project.id} GROUP BY 1`.execute(service.db);
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
}

async function listPauses() {
  return service.db.selectFrom('route_pauses').selectAll().orderBy('id').execute();
}

it('a relay that denies access because we did not sign in unsubscribes no contact: the route is paused, and email is sent when the relay accepts it', async () => {
  await buildContacts(service.db, { projectId: project.id, count: COUNT });
  const { body } = await service.call('POST', '/campaigns', { key: project.secretKey, body: createCampaignBody() });
  await service.call('POST', `/campaigns/${body.data.id}/send`, { key: project.secretKey, body: {} });
  const [pause] = await until(async () => ((await listPauses()).length > 0 ? listPauses() : undefined), 'the pause');
  expect(pause).toMatchObject({
    project_id: project.id,
    stage: 'rcpt',
    reply: '554 5.7.1 <[address]>: Recipient address rejected: Access denied',
  });

  const single = { to: 'single@to.test', from: 'news@sender.test', subject: 'Hello', body: '<p>Hello</p>' };
  await service.call('POST', '/v1/send', { key: project.secretKey, body: single });
  const { rows } = await sql<{ out: number; suppressed: number; events: number }>`
    SELECT (SELECT count(*) FROM contacts WHERE project_id = ${project.id} AND NOT subscribed) AS out,
      (SELECT count(*) FROM suppressions WHERE project_id = ${project.id}) AS suppressed,
      (SELECT count(*) FROM events WHERE project_id = ${project.id} AND name = 'email.bounce') AS events
  `.execute(service.db);
  expect(rows[0]).toMatchObject({ suppressed: 0, events: 0 });
  const before = await countStatuses();
  expect(Object.keys(before).filter((status) => !/^(PENDING|SENDING)$/.test(status))).toEqual([]);

  const attention = await service.call('GET', '/analytics/attention', { key: project.secretKey });
  expect(JSON.stringify(attention.body)).toContain('"route_paused"');

  const workflowId = service.names.campaign(body.data.id, 1);
  const lifecycle = await connectLifecycle(service);
  const isShown = async () =>
    (await listSummaries(lifecycle.client, workflowId)).some((summary) => summary.includes('the route is paused'));
  await until(isShown, 'the summary of the campaign’s wait');
  await lifecycle.close();

  isClosed = false;
  await until(async () => ((await listPauses()).length === 0 ? true : undefined), 'a probe to end the pause');
  await until(async () => ((await countStatuses()).SENT === COUNT + 1 ? true : undefined), 'every email');
  expect(await countStatuses()).toEqual({ SENT: COUNT + 1 });
  expect([...sink.perRecipient().values()].every((times) => times === 1)).toBe(true);
});
