import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { track } from '../build/events.ts';
import { buildDomain, buildTemplate } from '../build/senders.ts';
import { buildWorkflow, expectOk, listExecutions } from '../build/workflows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

let service: TestService;
let receiver: WebhookReceiver;
let templateId: string;
let failures = 0;

beforeAll(async () => {
  service = await startTestService();
  receiver = await startWebhookReceiver((request, response) => {
    if (request.path.startsWith('/flaky') && failures < 2) {
      failures += 1;
      response.writeHead(503, { 'retry-after': '0' }).end();
    } else if (request.path.startsWith('/gone')) {
      response.writeHead(410).end();
    } else if (request.path.startsWith('/loop')) {
      response.writeHead(302, { location: '/loop' }).end();
    } else response.end('ok');
  });
  await buildDomain(service.db, { projectId: service.one.id });
  templateId = await buildTemplate(service.db, { projectId: service.one.id });
});

afterAll(async () => {
  await receiver?.close();
  await service?.close();
});

const waitForEnd = async (workflowId: string) => {
  const execution = await until(async () => {
    const [found] = await listExecutions(service, workflowId);
    return found?.completedAt ? found : undefined;
  }, 'the end of the execution');
  return expectOk(service.call('GET', `/workflows/${workflowId}/executions/${execution.id}`));
};

const waitForStep = (workflowId: string, stepId: string | undefined) =>
  until(async () => {
    const [found] = await listExecutions(service, workflowId);
    return found?.currentStepId === stepId ? found : undefined;
  }, 'the execution at the step');

describe('a contact who triggers a workflow', () => {
  it('visits steps of all seven types, and the record shows every step', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'tour',
      steps: {
        mail: { type: 'SEND_EMAIL', config: { templateId }, to: 'pause' },
        pause: { type: 'DELAY', config: { amount: 1, unit: 'seconds' }, to: 'wait' },
        wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'paid', timeout: 60 }, to: { event: 'check' } },
        check: {
          type: 'CONDITION',
          config: { field: 'event.plan', operator: 'equals', value: 'pro' },
          to: { yes: 'hook', no: 'out' },
        },
        hook: { type: 'WEBHOOK', config: { url: `${receiver.url}/tour/{{email}}` }, to: 'update' },
        update: {
          type: 'UPDATE_CONTACT',
          config: { updates: { stage: '{{event.plan}}', seats: '{{event.seats}}' } },
          to: 'out',
        },
        out: { type: 'EXIT', config: { reason: 'finished' } },
      },
    });
    const { data } = await track(service, 'tour@example.com', 'tour', { name: 'Ada', plan: 'pro', seats: 3 });
    await waitForStep(workflow.id, workflow.steps.wait);
    await track(service, 'tour@example.com', 'paid');

    const execution = await waitForEnd(workflow.id);
    expect(execution).toMatchObject({
      status: 'EXITED',
      exitReason: 'finished',
      event: { plan: 'pro' },
      temporal: { workflowId: service.names.execution(execution.id), runId: expect.any(String) },
    });
    expect(execution.steps.map((s: { type: string; status: string }) => `${s.type} ${s.status}`)).toEqual([
      'SEND_EMAIL COMPLETED',
      'DELAY COMPLETED',
      'WAIT_FOR_EVENT COMPLETED',
      'CONDITION COMPLETED',
      'WEBHOOK COMPLETED',
      'UPDATE_CONTACT COMPLETED',
      'EXIT COMPLETED',
    ]);
    const contact = await expectOk(service.call('GET', `/contacts/${data.contact}`));
    expect(contact.data).toMatchObject({ stage: 'pro', seats: 3 });
    const hook = receiver.received.find((request) => request.path === '/tour/tour%40example.com');
    expect(hook?.headers['x-execution-id']).toBe(execution.id);
    expect(JSON.parse(hook?.body ?? '')).toMatchObject({
      contact: { email: 'tour@example.com', subscribed: true, data: { name: 'Ada' } },
      workflow: { id: workflow.id, name: 'Test' },
      execution: { id: execution.id },
      event: { plan: 'pro' },
    });
    const { data: emails } = await expectOk(service.call('GET', '/v1/emails?to=tour@example.com'));
    expect(emails).toMatchObject([{ status: 'SENT', sourceType: 'WORKFLOW', workflowExecutionId: execution.id }]);
  });

  it('needs one activity in Temporal for each effect, and no more', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'cheap',
      steps: {
        mail: { type: 'SEND_EMAIL', config: { templateId }, to: 'check' },
        check: { type: 'CONDITION', config: { field: 'email', operator: 'exists' }, to: { yes: 'out', no: 'out' } },
        out: { type: 'EXIT' },
      },
    });
    await track(service, 'cheap@example.com', 'cheap');
    const execution = await waitForEnd(workflow.id);
    const { Client, Connection } = await import('@temporalio/client');
    const connection = await Connection.connect({ address: service.temporal.address });
    const client = new Client({ connection, namespace: service.temporal.namespace });
    const handle = client.workflow.getHandle(execution.temporal.workflowId);
    await handle.result();
    const { events } = await handle.fetchHistory();
    await connection.close();
    expect(events?.filter((event) => event.activityTaskScheduledEventAttributes)).toHaveLength(1);
  });

  it('takes the timeout branch if the event does not arrive, or the plain transition if there is no branch', async () => {
    const steps = {
      timeout: { type: 'EXIT', config: { reason: 'too late' } },
      plain: { type: 'EXIT', config: { reason: 'plain' } },
    } as const;
    const wait = { type: 'WAIT_FOR_EVENT', config: { eventName: 'never', timeout: 1 } } as const;
    const branched = await buildWorkflow(service, {
      eventName: 'branched',
      steps: { wait: { ...wait, to: { timeout: 'timeout', event: 'plain' } }, ...steps },
    });
    const unbranched = await buildWorkflow(service, {
      eventName: 'unbranched',
      steps: { wait: { ...wait, to: 'plain' }, plain: steps.plain },
    });
    await track(service, 'late@example.com', 'branched');
    await track(service, 'late@example.com', 'unbranched');
    expect((await waitForEnd(branched.id)).exitReason).toBe('too late');
    expect((await waitForEnd(unbranched.id)).exitReason).toBe('plain');
  });

  it('waits for an event whose data matches the filters', async () => {
    const filters = [{ field: 'total', operator: 'greaterThan', value: 100 }];
    const workflow = await buildWorkflow(service, {
      eventName: 'filtered',
      steps: {
        wait: {
          type: 'WAIT_FOR_EVENT',
          config: { eventName: 'order', filters, timeout: 300 },
          to: { event: 'out', timeout: 'late' },
        },
        out: { type: 'EXIT', config: { reason: 'ordered' } },
        late: { type: 'EXIT', config: { reason: 'late' } },
      },
    });
    await track(service, 'filter@example.com', 'filtered');
    await waitForStep(workflow.id, workflow.steps.wait);
    await track(service, 'filter@example.com', 'order', { total: 50 });
    expect((await listExecutions(service, workflow.id))[0].status).toBe('WAITING');
    await track(service, 'filter@example.com', 'order', { total: 150 });
    expect((await waitForEnd(workflow.id)).exitReason).toBe('ordered');
  });

  it('receives every event that arrives while no worker runs', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'offline',
      steps: {
        wait: {
          type: 'WAIT_FOR_EVENT',
          config: { eventName: 'back', timeout: 600 },
          to: { event: 'out', timeout: 'late' },
        },
        out: { type: 'EXIT', config: { reason: 'event' } },
        late: { type: 'EXIT', config: { reason: 'late' } },
      },
    });
    await service.stopWorker();
    await track(service, 'offline@example.com', 'offline');
    await track(service, 'offline@example.com', 'back');
    await service.startWorker();
    expect((await waitForEnd(workflow.id)).exitReason).toBe('event');
  });
});

describe('two waits in a row', () => {
  it.each([
    ['a wait', { type: 'WAIT_FOR_EVENT', config: { eventName: 'paid' }, to: { event: 'second' } }],
    ['a delay', { type: 'DELAY', config: { amount: 1, unit: 'seconds' }, to: 'second' }],
  ] as const)('receive an event that arrives before a worker has handled the end of %s', async (name, first) => {
    const workflow = await buildWorkflow(service, {
      eventName: name,
      steps: {
        first,
        second: {
          type: 'WAIT_FOR_EVENT',
          config: { eventName: 'shipped', timeout: 5 },
          to: { event: 'out', timeout: 'late' },
        },
        out: { type: 'EXIT', config: { reason: 'event' } },
        late: { type: 'EXIT', config: { reason: 'late' } },
      },
    });
    const email = `${name.replace(' ', '-')}@example.com`;
    await track(service, email, name);
    const { id } = await waitForStep(workflow.id, workflow.steps.first);
    await service.stopWorker();
    await track(service, email, 'paid');
    await until(async () => (await isDelayOver(id)) || undefined, 'the end of the delay');
    await track(service, email, 'shipped');
    await service.startWorker();
    expect((await waitForEnd(workflow.id)).exitReason).toBe('event');
  });
});

/** Tells whether the current step of an execution is no delay that still runs. */
async function isDelayOver(executionId: string): Promise<boolean> {
  const open = await service.db
    .selectFrom('execution_steps')
    .select('visit')
    .where('execution_id', '=', executionId)
    .where('due_at', '>', sql<Date>`now()`)
    .execute();
  return open.length === 0;
}

describe('a WEBHOOK step', () => {
  it('retries temporary failures with the same Idempotency-Key', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'flaky',
      steps: { hook: { type: 'WEBHOOK', config: { url: `${receiver.url}/flaky` }, to: 'out' }, out: { type: 'EXIT' } },
    });
    await track(service, 'flaky@example.com', 'flaky');
    const execution = await waitForEnd(workflow.id);
    expect(execution.steps[0]).toMatchObject({ status: 'COMPLETED', attempts: 3, output: { statusCode: 200 } });
    const keys = receiver.received.filter((r) => r.path === '/flaky').map((r) => r.headers['idempotency-key']);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
  });

  it('never retries other 4xx responses, and continues or fails as it is configured', async () => {
    const steps = (onFailure: string) => ({
      hook: { type: 'WEBHOOK' as const, config: { url: `${receiver.url}/gone/${onFailure}`, onFailure }, to: 'out' },
      out: { type: 'EXIT' as const },
    });
    const goesOn = await buildWorkflow(service, { eventName: 'gone', steps: steps('CONTINUE') });
    const fails = await buildWorkflow(service, { eventName: 'gone', steps: steps('FAIL') });
    await track(service, 'gone@example.com', 'gone');
    expect(await waitForEnd(goesOn.id)).toMatchObject({
      status: 'EXITED',
      steps: [{ status: 'FAILED' }, { type: 'EXIT' }],
    });
    expect(await waitForEnd(fails.id)).toMatchObject({ status: 'FAILED', error: 'HTTP 410' });
    expect(receiver.received.filter((r) => r.path.startsWith('/gone'))).toHaveLength(2);
  });
});

describe('a WEBHOOK step with an address that must not be called', () => {
  it.each([
    ['redirects without end', () => `${receiver.url}/loop`],
    ['is no URL', () => 'http://{{event.host}}'],
  ])('is attempted once: it %s', async (name, url) => {
    const workflow = await buildWorkflow(service, {
      eventName: name,
      steps: { hook: { type: 'WEBHOOK', config: { url: url() } } },
    });
    await track(service, 'uncallable@example.com', name);
    expect(await waitForEnd(workflow.id)).toMatchObject({ steps: [{ status: 'FAILED', attempts: 1 }] });
  });
});

describe('entering a workflow', () => {
  const steps = { out: { type: 'EXIT' as const } };

  it('happens once without re-entry, after any number of concurrent events', async () => {
    const workflow = await buildWorkflow(service, { eventName: 'once', steps });
    await Promise.all(Array.from({ length: 20 }, () => track(service, 'once@example.com', 'once')));
    await track(service, 'once@example.com', 'once');
    expect(await listExecutions(service, workflow.id)).toHaveLength(1);
  });

  it('happens again with re-entry, but never twice at the same time', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'again',
      allowReentry: true,
      steps: { pause: { type: 'DELAY', config: { amount: 1, unit: 'hours' }, to: 'out' }, out: { type: 'EXIT' } },
    });
    await Promise.all(Array.from({ length: 20 }, () => track(service, 'again@example.com', 'again')));
    const [first, ...more] = await listExecutions(service, workflow.id);
    expect(more).toEqual([]);
    await expectOk(service.call('DELETE', `/workflows/${workflow.id}/executions/${first.id}`));
    await track(service, 'again@example.com', 'again');
    expect(await listExecutions(service, workflow.id)).toHaveLength(2);
    await expectOk(service.call('POST', `/workflows/${workflow.id}/executions/cancel-all`));
  });

  it('by API returns 409 under the same rules, and while the workflow is disabled', async () => {
    const { data } = await track(service, 'hand@example.com', 'unrelated');
    const workflow = await buildWorkflow(service, { triggerType: 'MANUAL', steps, enabled: false });
    const startExecution = () =>
      service.call('POST', `/workflows/${workflow.id}/executions`, {
        body: { contactId: data.contact, context: { a: 1 } },
      });
    expect((await startExecution()).status).toBe(409);
    await expectOk(service.call('PATCH', `/workflows/${workflow.id}`, { body: { enabled: true } }));
    expect(await startExecution()).toMatchObject({ status: 201, body: { context: { a: 1 } } });
    expect(await startExecution()).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
  });
});

describe('a workflow that is edited while contacts are in it', () => {
  it('moves contacts in a DELAY to the step that follows in the edited graph', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'edited',
      steps: {
        pause: { type: 'DELAY', config: { amount: 2, unit: 'seconds' }, to: 'old' },
        old: { type: 'UPDATE_CONTACT', config: { updates: { way: 'old' } } },
      },
    });
    const { data } = await track(service, 'edited@example.com', 'edited');
    await waitForStep(workflow.id, workflow.steps.pause);
    const step = await expectOk(
      service.call('POST', `/workflows/${workflow.id}/steps`, {
        body: { type: 'WEBHOOK', config: { url: `${receiver.url}/new` } },
      }),
    );
    const { transitions } = await expectOk(service.call('GET', `/workflows/${workflow.id}`));
    await expectOk(service.call('DELETE', `/workflows/${workflow.id}/transitions/${transitions[0].id}`));
    await expectOk(
      service.call('POST', `/workflows/${workflow.id}/transitions`, {
        body: { fromStepId: workflow.steps.pause, toStepId: step.id },
      }),
    );
    const execution = await waitForEnd(workflow.id);
    expect(execution.steps.map((s: { type: string }) => s.type)).toEqual(['DELAY', 'WEBHOOK']);
    expect((await expectOk(service.call('GET', `/contacts/${data.contact}`))).data.way).toBeUndefined();
  });

  it('ends the executions of contacts at a deleted step as EXITED with the reason', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'deleted',
      steps: { pause: { type: 'DELAY', config: { amount: 1, unit: 'days' }, to: 'out' }, out: { type: 'EXIT' } },
    });
    await track(service, 'deleted@example.com', 'deleted');
    await waitForStep(workflow.id, workflow.steps.pause);
    await expectOk(service.call('DELETE', `/workflows/${workflow.id}/steps/${workflow.steps.pause}`));
    expect(await waitForEnd(workflow.id)).toMatchObject({ status: 'EXITED', exitReason: 'step_deleted' });
  });
});

describe('deleting a contact', () => {
  it('ends its execution and the workflow in Temporal', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'erased',
      steps: { pause: { type: 'DELAY', config: { amount: 1, unit: 'days' }, to: 'out' }, out: { type: 'EXIT' } },
    });
    const { data } = await track(service, 'erased@example.com', 'erased');
    const { id } = await waitForStep(workflow.id, workflow.steps.pause);
    await expectOk(service.call('DELETE', `/contacts/${data.contact}`));
    expect(await waitForEnd(workflow.id)).toMatchObject({ status: 'CANCELLED', exitReason: 'contact_deleted' });
    const { Client, Connection } = await import('@temporalio/client');
    const connection = await Connection.connect({ address: service.temporal.address });
    const client = new Client({ connection, namespace: service.temporal.namespace });
    await until(async () => {
      const { status } = await client.workflow.getHandle(service.names.execution(id)).describe();
      return status.name === 'CANCELLED';
    }, 'the cancelled Temporal workflow');
    await connection.close();
  });
});
