import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { DEFAULT_TIMEOUTS } from '../../channels/email/smtp/types.ts';
import { buildEmail } from '../build/emails.ts';
import { track } from '../build/events.ts';
import { buildDomain, buildTemplate } from '../build/senders.ts';
import { type BuiltWorkflow, buildWorkflow, listExecutions } from '../build/workflows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { until } from '../support/until.ts';

let sink: SmtpSink;
let service: TestService;
let client: Client;
let templateId: string;

beforeAll(async () => {
  sink = await startSmtpSink();
  service = await startTestService({ EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url });
  const connection = await Connection.connect({ address: service.temporal.address });
  client = new Client({ connection, namespace: service.temporal.namespace });
  await buildDomain(service.db, { projectId: service.one.id });
  templateId = await buildTemplate(service.db, { projectId: service.one.id });
});
afterAll(async () => {
  await service?.close();
  await sink?.close();
  await client?.connection.close();
});
beforeEach(() => sink.reset());

let names = 0;
function buildEmailWorkflow(
  call = service.call,
  template = templateId,
): Promise<BuiltWorkflow & { eventName: string }> {
  names += 1;
  const eventName = `mail-${names}`;
  const steps = {
    mail: { type: 'SEND_EMAIL' as const, config: { templateId: template }, to: 'end' },
    end: { type: 'EXIT' as const, config: {} },
  };
  return buildWorkflow({ call }, { eventName, steps }).then((workflow) => ({ ...workflow, eventName }));
}

/** Returns the time limit in seconds of an activity type in a workflow's history. */
async function readTimeout(workflowId: string, activity: string): Promise<number> {
  const history = await client.workflow.getHandle(workflowId).fetchHistory();
  const scheduled = history.events
    ?.map((event) => event.activityTaskScheduledEventAttributes)
    .find((attributes) => attributes?.activityType?.name === activity);
  return Number(scheduled?.startToCloseTimeout?.seconds ?? 0);
}

it('Temporal starts no second attempt while a mail server may still reply to the first', async () => {
  const { connectMs, greetingMs, commandMs, messageMs } = DEFAULT_TIMEOUTS;
  const slowestSeconds = (connectMs + greetingMs + 3 * commandMs + messageMs) / 1_000;
  const workflow = await buildEmailWorkflow();
  await track(service, 'slow@example.com', workflow.eventName);
  const execution = await until(async () => {
    const [first] = await listExecutions(service, workflow.id);
    return first?.completedAt && first;
  }, 'the end of the execution');
  expect(await readTimeout(service.names.execution(execution.id), 'SEND_EMAIL')).toBeGreaterThan(slowestSeconds);

  const id = await buildEmail(service.db, { projectId: service.one.id });
  await client.workflow.execute('emailDelivery', {
    taskQueue: service.names.taskQueue('workflows'),
    workflowId: 'delivery-in-test',
    args: [{ projectId: service.one.id, emailIds: [id] }],
  });
  // The activity starts emails for five minutes (activities/emails/deliveries.ts), and the last email may need the
  // maximum time of an email.
  expect(await readTimeout('delivery-in-test', 'sendMails')).toBeGreaterThan(5 * 60 + slowestSeconds);
});

it("emails of automations keep the project's send rate, and waiting for it does not count as an attempt", async () => {
  const rate = 2;
  const count = 8;
  // Workers read rates again every second. This rate is set before the project has sent any email, so it applies from
  // the first.
  await sql`UPDATE projects SET send_rate_per_second = ${rate} WHERE id = ${service.two.id}`.execute(service.db);
  await buildDomain(service.db, { projectId: service.two.id });
  const templateOfTwo = await buildTemplate(service.db, { projectId: service.two.id });
  const callAsTwo: TestService['call'] = (method, path, options) =>
    service.call(method, path, { ...options, key: service.two.secretKey });
  const workflow = await buildEmailWorkflow(callAsTwo, templateOfTwo);
  for (let n = 0; n < count; n += 1) {
    await track({ call: callAsTwo }, `rated${n}@example.com`, workflow.eventName);
  }
  await until(async () => sink.messages.length === count, 'the emails');
  const { rows } = await sql<{ seconds: number; attempts: number; tries: number }>`
    SELECT extract(epoch FROM max(e.sent_at) - min(e.sent_at))::float8 AS seconds, max(e.attempts) AS attempts, max(s.attempts) AS tries
    FROM emails e JOIN execution_steps s ON s.execution_id = e.execution_id AND s.visit = e.visit
    JOIN executions x ON x.id = e.execution_id WHERE x.workflow_id = ${workflow.id}
  `.execute(service.db);
  // The bucket may have had the tokens of one second at the start.
  expect(rows[0]?.seconds).toBeGreaterThan((count - 1 - 2 * rate) / rate);
  expect(rows[0]).toMatchObject({ attempts: 1, tries: 1 });
});

it('a held email of a workflow counts toward the monthly limit when it is sent', async () => {
  const sent = await sql<{ n: number }>`
    SELECT count(*) AS n FROM emails WHERE project_id = ${service.one.id} AND mode = 'live'`.execute(service.db);
  const limit = (sent.rows[0]?.n ?? 0) + 1;
  await sql`UPDATE projects SET held_at = now(), monthly_email_limit = ${limit} WHERE id = ${service.one.id}`.execute(
    service.db,
  );
  const workflow = await buildEmailWorkflow();
  for (const name of ['a', 'b', 'c']) await track(service, `held-${name}@example.com`, workflow.eventName);
  const readEmails = async () =>
    (
      await sql<{ status: string; reason: string | null }>`
        SELECT e.status, e.reason FROM emails e JOIN executions x ON x.id = e.execution_id WHERE x.workflow_id = ${workflow.id}`.execute(
        service.db,
      )
    ).rows;
  await until(async () => (await readEmails()).filter(({ status }) => status === 'HELD').length === 3, 'the hold');
  await sql`UPDATE projects SET held_at = NULL WHERE id = ${service.one.id}`.execute(service.db);
  await client.workflow.execute('releaseHeld', {
    taskQueue: service.names.taskQueue('workflows'),
    workflowId: 'release-in-test',
    args: [{ projectId: service.one.id }],
  });
  await until(
    async () =>
      (await readEmails()).every(({ status }) => status !== 'HELD' && status !== 'PENDING' && status !== 'SENDING'),
    'their end',
  );
  const reasons = (await readEmails()).map(({ status, reason }) => reason ?? status).sort();
  expect(reasons).toEqual(['SENT', 'limit_reached', 'limit_reached']);
  await sql`UPDATE projects SET monthly_email_limit = NULL WHERE id = ${service.one.id}`.execute(service.db);
});

it('an execution that is cancelled before its start never starts', async () => {
  const workflow = await buildWorkflow(service, {
    eventName: 'cancelled-early',
    steps: {
      wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'never' }, to: { event: 'end' } },
      end: { type: 'EXIT', config: {} },
    },
  });
  await service.stopWorker();
  await track(service, 'early@example.com', 'cancelled-early');
  const [execution] = await listExecutions(service, workflow.id);
  const { status } = await service.call('DELETE', `/workflows/${workflow.id}/executions/${execution.id}`);
  expect(status).toBeLessThan(300);
  await service.startWorker();
  await until(async () => {
    const { rows } = await sql`SELECT FROM outbox WHERE ref_id = ${execution.id}`.execute(service.db);
    return rows.length === 0;
  }, 'an empty outbox');
  const found = await client.workflow
    .getHandle(service.names.execution(execution.id))
    .describe()
    .catch((error: unknown) => error);
  expect(found).toBeInstanceOf(WorkflowNotFoundError);
});
