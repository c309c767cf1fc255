import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../cli/logger.ts';
import { packageRoot } from '../../cli/package-root.ts';
import { findTemporalBinary } from '../../cli/start/temporal-binary.ts';
import { buildContacts, createCampaignBody } from '../build/campaigns.ts';
import { track } from '../build/events.ts';
import { buildDomain, buildTemplate } from '../build/senders.ts';
import { type BuiltWorkflow, buildWorkflow, expectOk, listExecutions } from '../build/workflows.ts';
import { connectOperator, type TestOperator } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { listSummaries } from '../support/temporal-data.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const run = promisify(execFile);
let service: TestService;
let operator: TestOperator;
let sink: SmtpSink;
let receiver: WebhookReceiver;
let tour: BuiltWorkflow;
let cli: string;
const lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  sink = await startSmtpSink();
  receiver = await startWebhookReceiver((_request, response) => response.writeHead(404).end());
  service = await startTestService(
    { EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url, PUBLIC_URL: 'https://tidings.example.com' },
    { log: createLogger('worker', 'info', { write: (line: string) => void lines.push(JSON.parse(line)) }) },
  );
  operator = await connectOperator(service);
  cli = await findTemporalBinary({
    cliPath: process.env.TEMPORAL_CLI_PATH,
    binFolder: join(homedir(), '.cache', 'tidings'),
    env: process.env,
    progress: () => {},
    signal: new AbortController().signal,
  });
  await buildDomain(service.db, { projectId: service.one.id, signing: false });
  const templateId = await buildTemplate(service.db, { projectId: service.one.id });
  tour = await buildWorkflow(service, {
    eventName: 'tour',
    steps: {
      paid: { type: 'WAIT_FOR_EVENT', config: { eventName: 'paid', timeout: 86_400 }, to: { event: 'is_*pro*' } },
      'is_*pro*': {
        type: 'CONDITION',
        config: { field: 'event.plan', operator: 'equals', value: 'pro' },
        to: { yes: 'half', no: 'out' },
      },
      half: {
        type: 'SPLIT',
        config: {
          branches: [
            { name: 'all', weight: 100 },
            { name: 'none', weight: 0 },
          ],
        },
        to: { all: 'pause', none: 'out' },
      },
      pause: { type: 'DELAY', config: { amount: 1, unit: 'days' }, to: 'mail' },
      mail: { type: 'SEND_EMAIL', config: { templateId }, to: 'out' },
      out: { type: 'EXIT', config: { reason: 'toured' } },
    },
  });
});
afterAll(async () => {
  await operator?.close();
  await service?.close();
  await receiver?.close();
  await sink?.close();
});

const waitForExecution = (workflowId: string, contactId: string) =>
  until(async () => {
    const found = (await listExecutions(service, workflowId)).find((one) => one.contactId === contactId);
    return found?.begun === false ? undefined : found;
  }, 'the execution');

/** Starts an execution of the example workflow and waits until it reaches a step. */
async function startTourAt(step: 'paid' | 'pause', email: string): Promise<{ id: string; contactId: string }> {
  const { data } = await track(service, email, 'tour', { plan: 'pro' });
  const { id } = await waitForExecution(tour.id, data.contact);
  if (step === 'pause') await track(service, email, 'paid');
  await until(async () => (await readDetails(id)).includes(`${step}”`), `the run at ${step}`);
  return { id, contactId: data.contact };
}

async function readDetails(executionId: string): Promise<string> {
  return readMetadata(service.names.execution(executionId));
}

async function readMetadata(workflowId: string): Promise<string> {
  const handle = operator.client.workflow.getHandle(workflowId);
  const metadata = await handle
    .query<{ currentDetails?: string }>('__temporal_workflow_metadata')
    .catch(() => undefined);
  return metadata?.currentDetails ?? '';
}

/** Temporal's UI cuts off the last line of the details, so an empty line follows all details. */
const LAST_LINE = ['', '\u00a0'];
const INSTANT = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;

describe('a run in the Temporal UI', () => {
  it('lists the visited steps with branches, the current one in bold, and links to the dashboard', async () => {
    const { id } = await startTourAt('pause', 'path@example.com');
    const details = await readDetails(id);
    expect(details.split('\n')).toEqual([
      expect.stringMatching(new RegExp(`^- ${INSTANT} WAIT_FOR_EVENT “paid” \\(paid\\) → event$`)),
      expect.stringMatching(/^- \S+ CONDITION “is\\_\\\*pro\\\*” → yes$/),
      expect.stringMatching(/^- \S+ SPLIT “half” → all$/),
      expect.stringMatching(new RegExp(`^- \\*\\*\\S+ DELAY “pause”, waiting until ${INSTANT}\\*\\*$`)),
      '',
      `[Open the run in the dashboard](https://tidings.example.com/app/messages/executions/${tour.id}/${id})`,
      ...LAST_LINE,
    ]);
  });

  it('labels activities with their step, and timers with the step and the time', async () => {
    const { id } = await startTourAt('pause', 'labels@example.com');
    await expectOk(service.call('POST', `/workflows/${tour.id}/executions/${id}/advance`, { body: {} }));
    const workflowId = service.names.execution(id);
    await operator.client.workflow.getHandle(workflowId).result();
    expect(await listSummaries(operator.client, workflowId)).toEqual([
      expect.stringMatching(new RegExp(`^timer: WAIT_FOR_EVENT “paid” \\(paid\\) until ${INSTANT}$`)),
      'ADVANCE: CONDITION “is_*pro*”',
      expect.stringMatching(new RegExp(`^timer: DELAY “pause” until ${INSTANT}$`)),
      'SEND_EMAIL: SEND_EMAIL “mail”',
    ]);
    expect(await readDetails(id)).toContain('EXIT “out”');
    expect(await readDetails(id)).toContain('**EXITED: toured**');
  });

  it('writes no search attributes if it never waits and ends without a reason', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'straight',
      steps: { one: { type: 'UPDATE_CONTACT', config: { updates: { stage: 'one' } } } },
    });
    const { data } = await track(service, 'straight@example.com', 'straight');
    const { id } = await waitForExecution(workflow.id, data.contact);
    const handle = operator.client.workflow.getHandle(service.names.execution(id));
    await handle.result();
    const { events } = await handle.fetchHistory();
    expect(events?.some((event) => event.upsertWorkflowSearchAttributesEventAttributes)).toBe(false);
  });
});

describe('deferred email in the Temporal UI', () => {
  it('shows provider, attempt, status and next attempt, and never the recipient', async () => {
    const to = 'defer450-4.2.1@example.com';
    const body = { to, from: 'x@shop.example.com', subject: 'Hi', body: '<p>Hello</p>' };
    const sent = await expectOk(service.call('POST', '/v1/send', { body }));
    const id = sent.data.emails[0].email;
    const workflowId = await until(async () => {
      const query = `JobKind = 'email-delivery' AND ProjectId = '${service.one.id}'`;
      for await (const found of operator.client.workflow.list({ query })) return found.workflowId;
      return undefined;
    }, 'the delivery');
    const details = await until(() => readMetadata(workflowId), 'its details');
    const how = `attempt 1 by smtp \\(127.0.0.1:${sink.port}\\): 450 4.2.1`;
    expect(details.split('\n')).toEqual([
      'Waiting for the next attempt: 1 email',
      '',
      expect.stringMatching(new RegExp(`^- ${id}, ${how}, next attempt at ${INSTANT}$`)),
      ...LAST_LINE,
    ]);
    const summaries = await until(async () => {
      const found = await listSummaries(operator.client, workflowId);
      return found.length > 0 && found;
    }, 'its timer');
    expect(summaries).toEqual([expect.stringMatching(new RegExp(`^timer: 1 wait until ${INSTANT}, ${how}$`))]);
    expect(JSON.stringify([details, summaries])).not.toContain('example.com');
  });
});

describe('the document docs/operate/temporal.md', () => {
  it('has ten queries that each return the described result', async () => {
    const waiting = await startTourAt('paid', 'waits@example.com');
    const pausing = await startTourAt('pause', 'pauses@example.com');
    const failing = await buildWorkflow(service, {
      eventName: 'fails',
      steps: { hook: { type: 'WEBHOOK', config: { url: receiver.url, onFailure: 'FAIL' } } },
    });
    const failed = (await track(service, 'fails@example.com', 'fails')).data.contact;
    await buildContacts(service.db, { projectId: service.one.id, count: 1 });
    const { data: campaign } = await expectOk(
      service.call('POST', '/campaigns', { body: createCampaignBody({ from: 'x@shop.example.com' }) }),
    );
    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
    await expectOk(service.call('POST', `/campaigns/${campaign.id}/send`, { body: { scheduledFor } }));
    const [failedRun, exited] = await Promise.all([
      waitForExecution(failing.id, failed),
      sql<{ id: string }>`SELECT id FROM executions WHERE exit_reason = 'toured'`.execute(service.db),
    ]);
    const values: Record<string, string> = {
      'step id': tour.steps.paid ?? '',
      'contact id': pausing.contactId,
      'automation id': tour.id,
      today: new Date().toISOString().slice(0, 10),
      reason: 'webhook_failed',
      'exit reason': 'toured',
      'campaign id': campaign.id,
      'project id': service.one.id,
      installation: service.names.shortId,
    };
    const runs = (...ids: string[]) => ids.map((id) => service.names.execution(id));
    const campaignId = service.names.campaign(campaign.id, 1);
    const expected = [
      runs(waiting.id),
      runs(pausing.id),
      runs(waiting.id),
      runs(failedRun.id),
      runs(failedRun.id),
      runs(...exited.rows.map(({ id }) => id)),
      [campaignId],
      [campaignId],
      [expect.stringMatching(/^delivery-/)],
      [service.names.installation()],
    ];
    const commands = listTemporalCommands('docs/operate/temporal.md', values);
    expect(commands).toHaveLength(10);
    for (const [n, ids] of expected.entries()) {
      const command = commands[n] ?? '';
      const found = await until(async () => {
        const listed = (await runTemporal(command)) as { execution: { workflowId: string } }[];
        const seen = listed.map(({ execution }) => execution.workflowId).sort();
        return seen.length === ids.length && seen;
      }, `what ${command} asks for`);
      expect(found, command).toEqual([...ids].sort());
    }
  });
});

/** Returns the ten commands of the page, with values for their placeholders. */
function listTemporalCommands(page: string, values: Record<string, string>): string[] {
  const text = readFileSync(join(packageRoot(), page), 'utf8');
  const questions = text.slice(text.indexOf('## Ten questions'), text.indexOf('## Search attributes'));
  return [...questions.matchAll(/```sh\n(temporal .*)\n```/g)].map(([, command = '']) =>
    command.replace(/<([a-z ]+)>/g, (_, name: string) => {
      if (values[name] === undefined) throw new Error(`the page asks for <${name}>`);
      return values[name];
    }),
  );
}

async function runTemporal(command: string): Promise<unknown> {
  const { address, namespace } = service.temporal;
  const line = command.replace(/^temporal/, `${cli} --address ${address} --namespace ${namespace} --output json`);
  const { stdout } = await run('sh', ['-c', line], { maxBuffer: 10_000_000 });
  return JSON.parse(stdout.trim() === '' ? '[]' : stdout);
}

it('the log has one line for each end of a message and an execution, with ids, outcome, reason and duration', async () => {
  const waitForLine = (message: string, fields: object) =>
    until(
      () => lines.find((one) => one.msg === message && Object.entries(fields).every(([k, v]) => one[k] === v)),
      message,
    );
  expect(await waitForLine('a message has ended', { outcome: 'sent' })).toMatchObject({
    projectId: service.one.id,
    emailId: expect.any(String),
    reason: null,
    ms: expect.any(Number),
  });
  expect(await waitForLine('a run has ended', { outcome: 'completed', reason: 'toured' })).toMatchObject({
    projectId: service.one.id,
    executionId: expect.any(String),
    workflowId: expect.stringMatching(/^execution-/),
    ms: expect.any(Number),
  });
  expect(await waitForLine('a run has ended', { outcome: 'failed' })).toMatchObject({ reason: 'webhook_failed' });
});

it('the log has one line for each end of a job and a campaign', async () => {
  await service.stopWorker();
  await service.startWorker();
  const waitForLine = (message: string, fields: object) =>
    until(
      () => lines.find((one) => one.msg === message && Object.entries(fields).every(([k, v]) => one[k] === v)),
      message,
    );
  const contact = await expectOk(service.call('POST', '/contacts', { body: { email: 'ends@example.com' } }));
  const jobs = '/contacts/bulk-unsubscribe';
  const { jobId } = await expectOk(service.call('POST', jobs, { body: { contactIds: [contact.id] } }));
  const ended = { projectId: service.one.id, ms: expect.any(Number) };
  expect(await waitForLine('a job has ended', { jobId })).toMatchObject({
    ...ended,
    outcome: 'completed',
    workflowId: service.names.job(jobId),
  });
  await buildContacts(service.db, { projectId: service.one.id, count: 2, localPart: 'ends' });
  const createNewsletter = async () => {
    const says = createCampaignBody({ from: 'x@shop.example.com' });
    const { data } = await expectOk(service.call('POST', '/campaigns', { body: says }));
    return data.id as string;
  };
  const sent = await createNewsletter();
  await expectOk(service.call('POST', `/campaigns/${sent}/send`, { body: {} }));
  expect(await waitForLine('a campaign has ended', { campaignId: sent })).toMatchObject({
    ...ended,
    outcome: 'completed',
  });
  const cancelled = await createNewsletter();
  const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
  await expectOk(service.call('POST', `/campaigns/${cancelled}/send`, { body: { scheduledFor } }));
  await operator.waitForStart(service.names.campaign(cancelled, 1));
  await expectOk(service.call('POST', `/campaigns/${cancelled}/cancel`));
  expect(await waitForLine('a campaign has ended', { campaignId: cancelled })).toMatchObject({
    ...ended,
    outcome: 'cancelled',
    reason: 'campaign_draft',
  });
});

describe('a failing endpoint in the Temporal UI', () => {
  it('is shown with its WEBHOOK step and the status that it returned', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'refused',
      steps: { crm: { type: 'WEBHOOK', config: { url: receiver.url, onFailure: 'FAIL' } } },
    });
    const { data } = await track(service, 'refused@example.com', 'refused');
    const { id } = await waitForExecution(workflow.id, data.contact);
    const handle = operator.client.workflow.getHandle(service.names.execution(id));
    await expect(handle.result()).rejects.toMatchObject({
      cause: { type: 'webhook_failed', message: 'WEBHOOK “crm” failed: HTTP 404' },
    });
    expect(await readDetails(id)).toMatch(/WEBHOOK “crm” → failed: HTTP 404\n- \*\*FAILED: webhook\\?_failed\*\*/);
  });

  it('is shown with the result of its last turn and the time of its next turn, if it is registered', async () => {
    const body = { url: receiver.url, events: ['unheard'] };
    const { id } = await expectOk(service.call('POST', '/webhooks', { body }));
    await track(service, 'unheard@example.com', 'unheard');
    const details = await until(() => readMetadata(service.names.webhooks(id)), 'its details');
    expect(details.split('\n')).toEqual([
      expect.stringMatching(new RegExp(`^Next delivery at ${INSTANT}\\.$`)),
      '',
      'The endpoint is ACTIVE. Last turn: 0 delivered, 1 failed (HTTP 404).',
      ...LAST_LINE,
    ]);
  });
});
