import { randomUUID } from 'node:crypto';
import { ApplicationFailure, CancelledFailure, WorkflowFailedError } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCampaignBody } from '../build/campaigns.ts';
import { track } from '../build/events.ts';
import { buildDomain } from '../build/senders.ts';
import { buildWorkflow, expectOk, listExecutions, type StepSpec } from '../build/workflows.ts';
import { connectOperator, type TestOperator } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

let service: TestService;
let operator: TestOperator;
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await startWebhookReceiver((_, response) => response.writeHead(400).end());
  service = await startTestService();
  operator = await connectOperator(service);
  await buildDomain(service.db, { projectId: service.one.id, signing: false });
});
afterAll(async () => {
  await operator?.close();
  await service?.close();
  await receiver?.close();
});

const OUTCOME = defineSearchAttributeKey('Outcome', SearchAttributeType.KEYWORD);
const PAUSE: StepSpec = { type: 'DELAY', config: { amount: 1, unit: 'days' }, to: 'end' };
const EXIT: StepSpec = { type: 'EXIT', config: { reason: 'through' } };

/** Returns the end of a workflow's last run: its result, or the type of its failure. */
async function waitForEnd(
  workflowId: string,
): Promise<{ result: unknown } | { cancelled: true } | { failure: string | null | undefined }> {
  try {
    return { result: await operator.client.workflow.getHandle(workflowId).result() };
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    if (error.cause instanceof CancelledFailure) return { cancelled: true };
    return { failure: error.cause instanceof ApplicationFailure ? error.cause.type : undefined };
  }
}

/** Starts an execution in a new workflow. Returns the execution and its workflow in Temporal. */
async function startExecution(
  steps: Record<string, StepSpec>,
  more: object = {},
): Promise<{ path: string; workflowId: string }> {
  const eventName = `enter-${randomUUID()}`;
  const workflow = await buildWorkflow(service, { eventName, steps });
  await expectOk(service.call('PATCH', `/workflows/${workflow.id}`, { body: more }));
  await track(service, 'ada@example.com', eventName);
  const [{ id }] = await listExecutions(service, workflow.id);
  const workflowId = service.names.execution(id);
  await operator.waitForStart(workflowId);
  return { path: `/workflows/${workflow.id}/executions/${id}`, workflowId };
}

/** Adds a template to the config of a SEND_EMAIL step. */
async function withTemplate(step: StepSpec): Promise<StepSpec> {
  if (step.type !== 'SEND_EMAIL') return step;
  const template = { name: randomUUID(), subject: 'Hi', body: 'B', type: 'TRANSACTIONAL', from: 'a@shop.example.com' };
  const { id } = await expectOk(service.call('POST', '/templates', { body: template }));
  return { ...step, config: { templateId: id } };
}

const readExecution = ({ path }: { path: string }) => expectOk(service.call('GET', path));

it('a Temporal run completes with the reason of its EXIT step', async () => {
  const run = await startExecution({ pause: PAUSE, end: EXIT });
  await expectOk(service.call('POST', `${run.path}/advance`));
  expect(await waitForEnd(run.workflowId)).toEqual({ result: 'through' });
});

it('a Temporal run completes when its contact exits by an event', async () => {
  const run = await startExecution({ pause: PAUSE, end: EXIT }, { exitOn: [{ eventName: 'bought' }] });
  await track(service, 'ada@example.com', 'bought');
  expect(await waitForEnd(run.workflowId)).toEqual({ result: 'exited_on_event' });
  expect(await readExecution(run)).toMatchObject({ status: 'EXITED', exitReason: 'exited_on_event' });
});

/**
 * Returns the reason of a cancelled workflow in each place where Temporal shows it: the history, the search attributes,
 * and the details.
 */
async function readReasons(workflowId: string) {
  expect(await waitForEnd(workflowId)).toEqual({ cancelled: true });
  const handle = operator.client.workflow.getHandle(workflowId);
  const { events } = await handle.fetchHistory();
  const { typedSearchAttributes } = await handle.describe();
  const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  return {
    cause: events?.find((event) => event.workflowExecutionCancelRequestedEventAttributes)
      ?.workflowExecutionCancelRequestedEventAttributes?.cause,
    outcome: typedSearchAttributes.get(OUTCOME),
    details: currentDetails.match(/\*\*CANCELLED.*\*\*/g),
  };
}

it('a Temporal run is cancelled with a reason when its execution is cancelled', async () => {
  const run = await startExecution({ pause: PAUSE, end: EXIT });
  await expectOk(service.call('DELETE', run.path));
  expect(await readReasons(run.workflowId)).toEqual({ cause: 'cancelled', details: ['**CANCELLED: cancelled**'] });
});

it('a Temporal run is cancelled with the reason when its contact is deleted', async () => {
  const run = await startExecution({ pause: PAUSE, end: EXIT });
  const { contactId } = await readExecution(run);
  await expectOk(service.call('DELETE', `/contacts/${contactId}`));
  expect(await readReasons(run.workflowId)).toEqual({
    cause: 'contact_deleted',
    outcome: 'contact_deleted',
    details: ['**CANCELLED: contact_deleted**'],
  });
});

it.each<StepSpec>([
  { type: 'SEND_EMAIL', config: {} },
  { type: 'UPDATE_CONTACT', config: { updates: { plan: 'pro' } } },
  { type: 'SEND_SMS', config: { body: 'Hi' } },
  { type: 'WEBHOOK', config: { url: 'https://hooks.example.com/x', method: 'POST' } },
])('an execution that was started although its contact was erased is cancelled at $type', async (step) => {
  const run = await startExecution({ pause: PAUSE, end: await withTemplate(step) });
  const { contactId } = await readExecution(run);
  // Earlier releases could start an execution after the erasure, which no erasure then ended.
  await service.db.deleteFrom('contacts').where('id', '=', contactId).execute();
  await expectOk(service.call('POST', `${run.path}/advance`));
  expect(await readReasons(run.workflowId)).toEqual({
    cause: 'contact_deleted',
    outcome: 'contact_deleted',
    details: ['**CANCELLED: contact_deleted**'],
  });
  expect(await readExecution(run)).toMatchObject({ status: 'CANCELLED', exitReason: 'contact_deleted', event: {} });
});

it.each(['ada@example.com called us', 'duplicate'])(
  'the record does not repeat the text with which an operator cancels a run in Temporal: %s',
  async (reason) => {
    const run = await startExecution({ pause: PAUSE, end: EXIT });
    await operator.client.workflowService.requestCancelWorkflowExecution({
      namespace: service.temporal.namespace,
      workflowExecution: { workflowId: run.workflowId },
      reason,
    });
    expect(await readReasons(run.workflowId)).toEqual({
      cause: reason,
      details: ['**CANCELLED**'],
    });
  },
);

it('a Temporal run says why its campaign or job was cancelled', async () => {
  const campaigns: string[] = [];
  for (let n = 0; n < 2; n += 1) {
    const body = createCampaignBody({ from: 'News <news@shop.example.com>' });
    const { id } = (await expectOk(service.call('POST', '/campaigns', { body }))).data;
    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
    await expectOk(service.call('POST', `/campaigns/${id}/send`, { body: { scheduledFor } }));
    await operator.waitForStart(service.names.campaign(id, 1));
    campaigns.push(id);
  }
  const [draft = '', deleted = ''] = campaigns;
  // The workflows read the rows after both changes.
  await service.stopWorker();
  await expectOk(service.call('POST', `/campaigns/${draft}/cancel`));
  await expectOk(service.call('POST', `/campaigns/${deleted}/cancel`));
  await expectOk(service.call('DELETE', `/campaigns/${deleted}`));
  const contact = await expectOk(service.call('POST', '/contacts', { body: { email: 'job@example.com' } }));
  const body = { contactIds: [contact.id] };
  const { jobId } = await expectOk(service.call('POST', '/contacts/bulk-unsubscribe', { body }));
  await expectOk(service.call('POST', `/contacts/jobs/${jobId}/cancel`));
  await service.startWorker();
  const createExpectedReasons = (reason: string) => ({
    cause: reason,
    outcome: reason === 'cancelled' ? undefined : reason,
    details: [`**CANCELLED: ${reason}**`],
  });
  expect(await readReasons(service.names.campaign(draft, 1))).toEqual(createExpectedReasons('campaign_draft'));
  expect(await readReasons(service.names.campaign(deleted, 1))).toEqual(createExpectedReasons('campaign_deleted'));
  await operator.waitForStart(service.names.job(jobId));
  expect(await readReasons(service.names.job(jobId))).toEqual(createExpectedReasons('cancelled'));
});

it('exactly the runs of failed executions fail, with the error code of the API, also if an execution never paused', async () => {
  const hook: StepSpec = { type: 'WEBHOOK', config: { url: receiver.url, onFailure: 'FAIL' }, to: 'end' };
  const runs = [
    await startExecution({ hook, end: EXIT }),
    await startExecution({ pause: { type: 'DELAY', config: { until: '{{ nothing }}' }, to: 'end' }, end: EXIT }),
  ];
  const codes = ['webhook_failed', 'invalid_step'];
  for (const [n, run] of runs.entries()) {
    expect(await waitForEnd(run.workflowId)).toEqual({ failure: codes[n] });
    expect(await readExecution(run)).toMatchObject({
      status: 'FAILED',
      exitReason: codes[n],
      error: expect.any(String),
    });
  }
  const failed: string[] = [];
  await until(async () => {
    failed.length = 0;
    for await (const { workflowId } of operator.client.workflow.list({ query: `ExecutionStatus = 'Failed'` }))
      failed.push(workflowId);
    return failed.length === runs.length;
  }, 'the list of failed workflows');
  expect(failed.sort()).toEqual(runs.map(({ workflowId }) => workflowId).sort());
});

it('the run of a campaign is cancelled when the campaign becomes a DRAFT again, and when it is then deleted', async () => {
  await track(service, 'reader@example.com', 'reads');
  for (const isDeleted of [false, true]) {
    const body = createCampaignBody({ from: 'News <news@shop.example.com>' });
    const { id } = (await expectOk(service.call('POST', '/campaigns', { body }))).data;
    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
    await expectOk(service.call('POST', `/campaigns/${id}/send`, { body: { scheduledFor } }));
    await operator.waitForStart(service.names.campaign(id, 1));
    await expectOk(service.call('POST', `/campaigns/${id}/cancel`));
    if (isDeleted) await expectOk(service.call('DELETE', `/campaigns/${id}`));
    expect(await waitForEnd(service.names.campaign(id, 1))).toEqual({ cancelled: true });
  }
});

const getProjectId = () => service.one.id;
it.each([
  [
    'an execution',
    'contactExecution',
    (id: string) => ({
      projectId: getProjectId(),
      executionId: id,
      next: { kind: 'effect', visit: 1, activity: 'SEND_EMAIL', label: 'x' },
    }),
  ],
  ['a campaign', 'campaignSend', (id: string) => ({ projectId: getProjectId(), campaignId: id, sendNo: 1 })],
  ['an import', 'contactImport', (id: string) => ({ projectId: getProjectId(), jobId: id, kind: 'import' })],
  ['a bulk job', 'bulkJob', (id: string) => ({ projectId: getProjectId(), jobId: id, kind: 'bulk-delete' })],
  ['an email', 'emailDelivery', (id: string) => ({ projectId: getProjectId(), emailIds: [id] })],
  ['an SMS', 'smsDelivery', (id: string) => ({ projectId: getProjectId(), smsIds: [id] })],
  ['a webhook endpoint', 'webhookDelivery', (id: string) => ({ projectId: getProjectId(), endpointId: id })],
])('a workflow fails with ROW_MISSING if there is no record of %s', async (_, type, inputOf) => {
  const id = randomUUID();
  const workflowId = `missing-${id}`;
  await operator.client.workflow.start(type, {
    taskQueue: service.names.taskQueue('workflows'),
    workflowId,
    args: [inputOf(id)],
  });
  expect(await waitForEnd(workflowId)).toEqual({ failure: 'ROW_MISSING' });
});
