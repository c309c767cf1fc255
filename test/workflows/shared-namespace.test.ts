import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildContacts, createCampaignBody } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const EXECUTIONS = 200;
const CONTACTS = 300;
const IMPORTED = 250;
/** Number of histories that the test fetches concurrently. */
const FETCHES = 16;

let first: TestService;
let second: TestService;
let client: Client;

beforeAll(async () => {
  first = await startTestService();
  const { address, namespace } = first.temporal;
  client = new Client({ connection: await Connection.connect({ address }), namespace });
  await createSchedule('housekeeping');
  second = await startTestService({}, { temporal: first.temporal, workerProcess: true });
});
afterAll(async () => {
  await client?.connection.close();
  await second?.close();
  await first?.close();
});

/** Creates a schedule as the release before installation names did. Another installation may still use it. */
async function createSchedule(scheduleId: string): Promise<void> {
  await client.schedule.create({
    scheduleId,
    spec: { intervals: [{ every: '1 day' }] },
    action: { type: 'startWorkflow', workflowType: 'housekeeping', taskQueue: 'workflows', args: [] },
  });
}

interface Work {
  workflowId: string;
  campaignId: string;
  jobId: string;
}

/** Starts executions, a campaign and an import in a service. */
async function startWork(service: TestService): Promise<Work> {
  await buildDomain(service.db, { projectId: service.one.id, domain: 'sender.test', signing: false });
  await buildContacts(service.db, { projectId: service.one.id, count: CONTACTS });
  const workflow = await buildWorkflow(service, {
    steps: {
      pause: { type: 'DELAY', config: { amount: 1, unit: 'seconds' }, to: 'plan' },
      plan: { type: 'UPDATE_CONTACT', config: { updates: { plan: 'pro' } }, to: 'end' },
      end: { type: 'EXIT', config: {} },
    },
  });
  const campaign = await expectOk(service.call('POST', '/campaigns', { body: createCampaignBody() }));
  await expectOk(service.call('POST', `/campaigns/${campaign.data.id}/send`, { body: {} }));
  const tracked = Array.from({ length: EXECUTIONS }, (_, n) =>
    expectOk(service.call('POST', '/v1/track', { body: { email: `r${n}@to.test`, event: 'signup' } })),
  );
  await Promise.all(tracked);
  return { workflowId: workflow.id, campaignId: campaign.data.id, jobId: await startImport(service) };
}

async function startImport(service: TestService): Promise<string> {
  const rows = Array.from({ length: IMPORTED }, (_, n) => `imported${n}@to.test`);
  const form = new FormData();
  form.append('file', new File([`email\n${rows.join('\n')}\n`], 'contacts.csv'));
  const headers = { authorization: `Bearer ${service.one.secretKey}` };
  const response = await fetch(`${service.baseUrl}/contacts/import`, { method: 'POST', body: form, headers });
  return ((await response.json()) as { jobId: string }).jobId;
}

/** Returns the state of everything that `startWork` started in a service. */
async function readOutcome(service: TestService, work: Work) {
  const executions = await service.db
    .selectFrom('executions')
    .select(['status', (eb) => eb.fn.countAll<number>().as('n')])
    .where('workflow_id', '=', work.workflowId)
    .groupBy('status')
    .execute();
  const { body: campaign } = await service.call('GET', `/campaigns/${work.campaignId}`);
  const { body: job } = await service.call('GET', `/contacts/import/${work.jobId}`);
  return {
    executions: Object.fromEntries(executions.map(({ status, n }) => [status, n])),
    campaign: campaign.status,
    job: [job.status, job.result?.successCount],
  };
}

/** Waits until all work of a service has ended correctly. */
async function expectDone(service: TestService, work: Work): Promise<void> {
  const done = { executions: { EXITED: EXECUTIONS }, campaign: 'SENT', job: ['COMPLETED', IMPORTED] };
  await expect.poll(() => readOutcome(service, work), { interval: 100 }).toEqual(done);
}

/** Returns the identities of the worker processes that took the tasks of a workflow. */
async function listIdentities(workflowId: string, runId: string): Promise<string[]> {
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const started = event.workflowTaskStartedEventAttributes ?? event.activityTaskStartedEventAttributes;
    return started?.identity ? [started.identity] : [];
  });
}

it('two installations in one namespace do their own work and never affect the other’s work', async () => {
  const [firstWork, secondWork] = await Promise.all([startWork(first), startWork(second)]);
  await expectDone(first, firstWork);
  await expectDone(second, secondWork);

  for (const { names } of [first, second]) {
    const query = `Installation = '${names.shortId}'`;
    await until(async () => (await client.workflow.count(query)).count >= EXECUTIONS + 2, 'the list of its workflows');
    const runs: { workflowId: string; runId: string }[] = [];
    for await (const run of client.workflow.list({ query })) runs.push(run);
    const processes = new Set<string>();
    for (let at = 0; at < runs.length; at += FETCHES) {
      const some = runs.slice(at, at + FETCHES).map((run) => listIdentities(run.workflowId, run.runId));
      for (const identity of (await Promise.all(some)).flat()) processes.add(identity);
    }
    expect([...processes]).toEqual([expect.stringContaining(`${names.shortId}/`)]);
    expect(runs.filter((run) => !run.workflowId.includes(names.shortId))).toEqual([]);
  }
  const unscoped = await client.workflow.count('Installation IS NULL');
  expect(unscoped.count).toBe(0);
});

it('each installation has separate schedules, and a schedule of an earlier release that belongs to neither is kept', async () => {
  const ids: string[] = [];
  for await (const { scheduleId } of client.schedule.list()) ids.push(scheduleId);
  for (const { names } of [first, second]) expect(ids).toContain(names.schedule('recovery'));
  expect(ids).toContain('housekeeping');
});

it('an execution has a workflow only under the name of its own installation', async () => {
  const { id } = await buildWorkflow(first, {
    eventName: 'slow',
    steps: { pause: { type: 'DELAY', config: { amount: 1, unit: 'weeks' }, to: 'end' }, end: { type: 'EXIT' } },
  });
  await expectOk(first.call('POST', '/v1/track', { body: { email: 'slow@to.test', event: 'slow' } }));
  const execution = await until(async () => {
    const { data } = await expectOk(first.call('GET', `/workflows/${id}/executions`));
    return data[0]?.begun && data[0];
  }, 'the start of the execution');
  expect(execution.temporal.workflowId).toBe(first.names.execution(execution.id));
  await expect(client.workflow.getHandle(second.names.execution(execution.id)).describe()).rejects.toThrow();
});
