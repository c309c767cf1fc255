import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BuiltWorkflow, buildWorkflow, expectOk, type StepSpec } from '../build/workflows.ts';
import { connectOperator, type TestOperator } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

let service: TestService;
let operator: TestOperator;
let receiver: WebhookReceiver;
let gone = true;

beforeAll(async () => {
  service = await startTestService();
  operator = await connectOperator(service);
  receiver = await startWebhookReceiver((_, response) => {
    if (gone) response.writeHead(410);
    response.end();
  });
});
afterAll(async () => {
  await receiver?.close();
  await operator?.close();
  await service?.close();
});

const track = async (email: string, event: string, data = {}) =>
  (await expectOk(service.call('POST', '/v1/track', { body: { email, event, data } }))).data.contact as string;

const getExecutionPath = ({ id }: BuiltWorkflow, executionId: string) => `/workflows/${id}/executions/${executionId}`;
const readExecution = (workflow: BuiltWorkflow, id: string) =>
  expectOk(service.call('GET', getExecutionPath(workflow, id)));
const listExecutions = async ({ id }: BuiltWorkflow) =>
  (await expectOk(service.call('GET', `/workflows/${id}/executions`))).data;

/** Starts an execution. Returns its id when Temporal runs it. */
async function startExecution(workflow: BuiltWorkflow, event: string): Promise<string> {
  await track(`${event}@example.com`, event);
  const execution = await until(async () => {
    const [found] = await listExecutions(workflow);
    return found?.begun ? found : undefined;
  }, 'the start of the execution');
  return execution.id;
}

const waitForEnd = (workflow: BuiltWorkflow, id: string) =>
  until(async () => {
    const found = await readExecution(workflow, id);
    return found.completedAt ? found : undefined;
  }, 'the end of the execution');

const waitForEndInTemporal = (id: string) =>
  until(async () => {
    const { status } = await operator.client.workflow.getHandle(service.names.execution(id)).describe();
    return status.name === 'RUNNING' ? undefined : status.name;
  }, 'the end of its Temporal workflow');

const advanceExecution = (workflow: BuiltWorkflow, id: string, body?: object) =>
  service.call('POST', `${getExecutionPath(workflow, id)}/advance`, body ? { body } : {});
const retryExecution = (workflow: BuiltWorkflow, id: string) =>
  service.call('POST', `${getExecutionPath(workflow, id)}/retry`);

const WEEK: StepSpec = { type: 'DELAY', config: { amount: 1, unit: 'weeks' } };
const END: StepSpec = { type: 'EXIT', config: { reason: 'through' } };

describe('moving an execution on', () => {
  it('moving an execution on ends its delay immediately and runs the next step once', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'move',
      steps: {
        pause: { ...WEEK, to: 'mark' },
        mark: { type: 'UPDATE_CONTACT', config: { updates: { moved: true } }, to: 'again' },
        again: { ...WEEK, to: 'end' },
        end: END,
      },
    });
    const id = await startExecution(workflow, 'move');
    const moved = await expectOk(advanceExecution(workflow, id));
    expect(moved.steps[0]).toMatchObject({ status: 'COMPLETED', output: { advanced: true } });
    await until(
      async () => (await readExecution(workflow, id)).currentStepId === workflow.steps.again,
      'the second delay',
    );
    await expectOk(advanceExecution(workflow, id));
    expect(await waitForEnd(workflow, id)).toMatchObject({ status: 'EXITED', exitReason: 'through' });
    expect((await readExecution(workflow, id)).steps.map((step: { type: string }) => step.type)).toEqual([
      'DELAY',
      'UPDATE_CONTACT',
      'DELAY',
      'EXIT',
    ]);
    await waitForEndInTemporal(id);
    expect((await advanceExecution(workflow, id)).status).toBe(409);
  });

  it.each([
    ['by its timeout unless a branch is given', undefined, 'timeout'],
    ['by the branch that is given', { branch: 'event' }, 'event'],
  ])('moving an execution on ends its wait %s', async (_, body, branch) => {
    const event = `wait-${branch}`;
    const workflow = await buildWorkflow(service, {
      eventName: event,
      steps: {
        wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'never' }, to: { event: 'came', timeout: 'late' } },
        came: { ...WEEK, to: 'end' },
        late: { ...WEEK, to: 'end' },
        end: END,
      },
    });
    const id = await startExecution(workflow, event);
    const moved = await expectOk(advanceExecution(workflow, id, body));
    expect(moved.steps[0]).toMatchObject({ status: 'COMPLETED', output: { advanced: true, branch } });
    expect(moved).toMatchObject({
      status: 'WAITING',
      currentStepId: branch === 'event' ? workflow.steps.came : workflow.steps.late,
    });
    // The event comes after the wait has ended, so it has no effect.
    await track(`${event}@example.com`, 'never');
    await expectOk(advanceExecution(workflow, id));
    expect(await waitForEnd(workflow, id)).toMatchObject({ exitReason: 'through' });
    await waitForEndInTemporal(id);
  });

  it('is refused with a branch that the step does not have', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'branchless',
      steps: { pause: { ...WEEK, to: 'end' }, end: END },
    });
    const id = await startExecution(workflow, 'branchless');
    const refused = await advanceExecution(workflow, id, { branch: 'event' });
    expect(refused).toMatchObject({ status: 422, body: { error: { errors: [{ field: 'branch' }] } } });
    expect((await readExecution(workflow, id)).status).toBe('WAITING');
  });

  it('takes effect when a worker runs again, also if no worker had started the execution', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'unattended',
      steps: {
        pause: { ...WEEK, to: 'mark' },
        mark: { type: 'UPDATE_CONTACT', config: { updates: { moved: true } }, to: 'end' },
        end: END,
      },
    });
    const begun = await startExecution(workflow, 'unattended');
    await service.stopWorker();
    await track('waiting@example.com', 'unattended');
    const [waiting] = await listExecutions(workflow);
    for (const id of [begun, waiting.id]) {
      expect(await expectOk(advanceExecution(workflow, id))).toMatchObject({ currentStepId: workflow.steps.mark });
      expect((await advanceExecution(workflow, id)).status).toBe(409);
    }
    await service.startWorker();
    for (const id of [begun, waiting.id]) {
      expect(await waitForEnd(workflow, id)).toMatchObject({ exitReason: 'through' });
      await waitForEndInTemporal(id);
    }
  });
});

describe('retrying a FAILED execution', () => {
  it('continues from the failed step with the same id and a new run in Temporal', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'hooked',
      steps: {
        first: { type: 'UPDATE_CONTACT', config: { updates: { seen: true } }, to: 'hook' },
        hook: { type: 'WEBHOOK', config: { url: `${receiver.url}/crm`, onFailure: 'FAIL' }, to: 'pause' },
        pause: { ...WEEK, to: 'end' },
        end: END,
      },
    });
    const id = await startExecution(workflow, 'hooked');
    expect(await waitForEnd(workflow, id)).toMatchObject({ status: 'FAILED', error: 'HTTP 410' });
    gone = false;
    expect(await expectOk(retryExecution(workflow, id))).toMatchObject({ id, error: null, completedAt: null });
    await until(async () => (await readExecution(workflow, id)).currentStepId === workflow.steps.pause, 'the delay');
    const again = await retryExecution(workflow, id);
    expect(again).toMatchObject({ status: 409, body: { error: { details: { status: 'WAITING' } } } });
    const { steps } = await readExecution(workflow, id);
    expect(steps.map((step: { type: string; status: string }) => `${step.type} ${step.status}`)).toEqual([
      'UPDATE_CONTACT COMPLETED',
      'WEBHOOK FAILED',
      'WEBHOOK COMPLETED',
      'DELAY WAITING',
    ]);
    await expectOk(advanceExecution(workflow, id));
    expect(await waitForEnd(workflow, id)).toMatchObject({ status: 'EXITED', exitReason: 'through' });
    await waitForEndInTemporal(id);
  });

  const buildDelayUntilWorkflow = (event: string, allowReentry = false) =>
    buildWorkflow(service, {
      eventName: event,
      allowReentry,
      steps: { pause: { type: 'DELAY', config: { until: '{{when}}' }, to: 'end' }, end: END },
    });

  it('uses the current contact, also if Temporal never ran the execution', async () => {
    const workflow = await buildDelayUntilWorkflow('undated');
    const contactId = await track('undated@example.com', 'undated');
    const [{ id }] = await listExecutions(workflow);
    expect(await readExecution(workflow, id)).toMatchObject({ status: 'FAILED' });
    expect(await expectOk(retryExecution(workflow, id))).toMatchObject({ status: 'FAILED' });
    const when = new Date(Date.now() + 86_400_000).toISOString();
    await expectOk(service.call('PATCH', `/contacts/${contactId}`, { body: { data: { when } } }));
    expect(await expectOk(retryExecution(workflow, id))).toMatchObject({ status: 'WAITING' });
    await expectOk(advanceExecution(workflow, id));
    expect(await waitForEnd(workflow, id)).toMatchObject({ exitReason: 'through' });
  });

  it('is refused while the contact has another active execution, and if its step was deleted', async () => {
    const workflow = await buildDelayUntilWorkflow('twice', true);
    const contactId = await track('twice@example.com', 'twice');
    const [{ id }] = await listExecutions(workflow);
    const when = new Date(Date.now() + 86_400_000).toISOString();
    await expectOk(service.call('PATCH', `/contacts/${contactId}`, { body: { data: { when } } }));
    await track('twice@example.com', 'twice');
    expect((await retryExecution(workflow, id)).status).toBe(409);
    await expectOk(service.call('DELETE', `/workflows/${workflow.id}/steps/${workflow.steps.pause}`));
    expect((await retryExecution(workflow, id)).status).toBe(409);
  });

  it('is refused after a loop', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'round',
      steps: {
        pause: { type: 'DELAY', config: { until: '{{when}}' }, to: 'ask' },
        ask: {
          type: 'CONDITION',
          config: { field: 'subscribed', operator: 'equals', value: true },
          to: { yes: 'end', no: 'pause' },
        },
        end: END,
      },
    });
    await expectOk(
      service.call('POST', '/contacts', {
        body: { email: 'round@example.com', subscribed: false, data: { when: '2020-01-01T00:00:00Z' } },
      }),
    );
    await track('round@example.com', 'round');
    const [{ id }] = await listExecutions(workflow);
    expect(await readExecution(workflow, id)).toMatchObject({ status: 'FAILED', error: 'loop' });
    expect((await retryExecution(workflow, id)).status).toBe(409);
    expect(await readExecution(workflow, id)).toMatchObject({ status: 'FAILED', error: 'loop' });
  });
});
