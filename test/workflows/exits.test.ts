import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import { connectOperator, type TestOperator } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let operator: TestOperator;

beforeAll(async () => {
  service = await startTestService();
  operator = await connectOperator(service);
});
afterAll(async () => {
  await operator?.close();
  await service?.close();
});

const track = (email: string, event: string, data = {}, key?: string) =>
  expectOk(service.call('POST', '/v1/track', { body: { email, event, data }, ...(key && { key }) }));

/** Builds a workflow that waits for a week, in a delay or for an event that never occurs. */
async function buildWaitingWorkflow(
  eventName: string,
  p: { settings?: object; byEvent?: boolean; allowReentry?: boolean },
) {
  const config = p.byEvent ? { eventName: 'never', timeout: 604_800 } : { amount: 1, unit: 'weeks' };
  const { id } = await buildWorkflow(service, {
    eventName,
    allowReentry: p.allowReentry ?? false,
    steps: { pause: { type: p.byEvent ? 'WAIT_FOR_EVENT' : 'DELAY', config, to: 'end' }, end: { type: 'EXIT' } },
  });
  if (p.settings) await expectOk(service.call('PATCH', `/workflows/${id}`, { body: p.settings }));
  return id;
}

const listExecutions = async (workflowId: string) =>
  (await expectOk(service.call('GET', `/workflows/${workflowId}/executions`))).data;

/** Waits until Temporal runs the only execution of a workflow, and returns the execution. */
const waitForStart = (workflowId: string) =>
  until(async () => {
    const [found] = await listExecutions(workflowId);
    return found?.begun ? found : undefined;
  }, 'the start of the execution');

const readStatusInTemporal = async (executionId: string) =>
  (await operator.client.workflow.getHandle(service.names.execution(executionId)).describe()).status.name;

async function expectExited(execution: { id: string; workflowId: string }, exitReason: string) {
  const path = `/workflows/${execution.workflowId}/executions/${execution.id}`;
  expect(await expectOk(service.call('GET', path))).toMatchObject({
    status: 'EXITED',
    exitReason,
    completedAt: expect.any(String),
  });
  await until(
    async () => (await readStatusInTemporal(execution.id)) !== 'RUNNING' || undefined,
    'the end of its Temporal workflow',
  );
}

const expectWaiting = async (execution: { id: string; workflowId: string }) =>
  expect(
    await expectOk(service.call('GET', `/workflows/${execution.workflowId}/executions/${execution.id}`)),
  ).toMatchObject({
    status: 'WAITING',
    completedAt: null,
  });

describe('an event of exitOn', () => {
  it.each([
    ['a delay', false],
    ['a wait', true],
  ])('ends an execution immediately during %s, and wakes its Temporal workflow', async (what, byEvent) => {
    const name = what.replace(' ', '-');
    const id = await buildWaitingWorkflow(`begin-${name}`, {
      byEvent,
      settings: { exitOn: [{ eventName: 'purchase' }] },
    });
    await track(`${name}@example.com`, `begin-${name}`);
    const execution = await waitForStart(id);
    await track(`somebody-else-${name}@example.com`, 'purchase');
    await track(`${name}@example.com`, 'purchase', {}, service.two.secretKey);
    await expectWaiting(execution);
    await track(`${name}@example.com`, 'purchase');
    await expectExited(execution, 'exited_on_event');
  });

  it('is compared with the variables of each execution', async () => {
    const filters = [{ field: 'event.cartId', operator: 'equals', value: '{{ event.cartId | downcase }}' }];
    const settings = { exitOn: [{ eventName: 'ordered', filters }] };
    const id = await buildWaitingWorkflow('cart', { settings });
    await track('cart-a@example.com', 'cart', { cartId: 'A1' });
    const execution = await waitForStart(id);
    await track('cart-a@example.com', 'ordered', { cartId: 'b2' });
    await track('cart-a@example.com', 'ordered', {});
    await expectWaiting(execution);
    await track('cart-a@example.com', 'ordered', { cartId: 'a1' });
    await expectExited(execution, 'exited_on_event');
  });

  it('must match the filters', async () => {
    const filters = [{ field: 'amount', operator: 'greaterThan', value: 100 }];
    const id = await buildWaitingWorkflow('filtered', { settings: { exitOn: [{ eventName: 'paid', filters }] } });
    await track('f@example.com', 'filtered');
    const execution = await waitForStart(id);
    await track('f@example.com', 'paid', { amount: 5 });
    await expectWaiting(execution);
    await track('f@example.com', 'paid', { amount: 500 });
    await expectExited(execution, 'exited_on_event');
  });

  it('applies in its current setting, also to contacts that already wait', async () => {
    const id = await buildWaitingWorkflow('later-set', { settings: { exitOn: [{ eventName: 'old-exit' }] } });
    await track('m@example.com', 'later-set');
    const execution = await waitForStart(id);
    const response = await expectOk(
      service.call('PATCH', `/workflows/${id}`, { body: { enabled: false, exitOn: [{ eventName: 'new-exit' }] } }),
    );
    expect(response).toMatchObject({ exitOn: [{ eventName: 'new-exit' }], exitWhenUnsubscribed: false });
    await track('m@example.com', 'old-exit');
    await expectWaiting(execution);
    await track('m@example.com', 'new-exit');
    await expectExited(execution, 'exited_on_event');
  });

  it('an exit event may be the trigger: the first event starts an execution, a later one ends it', async () => {
    const id = await buildWaitingWorkflow('again', { settings: { exitOn: [{ eventName: 'again' }] } });
    await track('t@example.com', 'again');
    const execution = await waitForStart(id);
    await expectWaiting(execution);
    await track('t@example.com', 'again');
    await expectExited(execution, 'exited_on_event');
    expect(await listExecutions(id)).toHaveLength(1);
  });

  it('an exit event that is the trigger also starts the next execution if re-entry is allowed', async () => {
    const settings = { exitOn: [{ eventName: 'cart' }] };
    const id = await buildWaitingWorkflow('cart', { settings, allowReentry: true });
    await track('c@example.com', 'cart');
    const first = await waitForStart(id);
    await track('c@example.com', 'cart');
    await expectExited(first, 'exited_on_event');
    const [second, ...rest] = await listExecutions(id);
    expect(second).toMatchObject({ status: 'WAITING' });
    expect(rest.map((execution: { id: string }) => execution.id)).toEqual([first.id]);
  });

  it('takes precedence over a wait for the same event', async () => {
    const { id } = await buildWorkflow(service, {
      eventName: 'both',
      steps: {
        wait: {
          type: 'WAIT_FOR_EVENT',
          config: { eventName: 'bought', timeout: 604_800 },
          to: { event: 'end', timeout: 'end' },
        },
        end: { type: 'EXIT', config: { reason: 'came through' } },
      },
    });
    await expectOk(service.call('PATCH', `/workflows/${id}`, { body: { exitOn: [{ eventName: 'bought' }] } }));
    await track('b@example.com', 'both');
    const execution = await waitForStart(id);
    await track('b@example.com', 'bought');
    await expectExited(execution, 'exited_on_event');
  });

  it('an exit event that arrives while no worker runs ends the execution, and its workflow ends when a worker runs again', async () => {
    const id = await buildWaitingWorkflow('offline', { settings: { exitOn: [{ eventName: 'gone' }] } });
    await track('o@example.com', 'offline');
    const execution = await waitForStart(id);
    await service.stopWorker();
    await track('o@example.com', 'gone');
    expect((await listExecutions(id))[0]).toMatchObject({ status: 'EXITED', exitReason: 'exited_on_event' });
    expect(await readStatusInTemporal(execution.id)).toBe('RUNNING');
    await service.startWorker();
    await expectExited(execution, 'exited_on_event');
  });

  it('cannot be purged while it is configured', async () => {
    await buildWaitingWorkflow('kept', { settings: { exitOn: [{ eventName: 'kept-exit' }] } });
    await track('k@example.com', 'kept-exit');
    const usage = await expectOk(service.call('GET', '/events/kept-exit/usage'));
    expect(usage).toMatchObject({ usedInWorkflows: [{ name: 'Test' }], canDelete: false });
  });
});

describe('exitWhenUnsubscribed', () => {
  const setSubscribed = async (email: string, subscribed: boolean) => {
    const { contacts, data } = await expectOk(service.call('GET', `/contacts?search=${encodeURIComponent(email)}`));
    const [contact] = contacts ?? data;
    await expectOk(service.call('PATCH', `/contacts/${contact.id}`, { body: { subscribed } }));
  };

  it('ends executions when the contact unsubscribes, only in workflows with this setting', async () => {
    const asks = await buildWaitingWorkflow('sub-asks', { settings: { exitWhenUnsubscribed: true } });
    const other = await buildWaitingWorkflow('sub-other', {});
    await expectOk(service.call('POST', '/contacts', { body: { email: 'u@example.com', subscribed: true } }));
    await track('u@example.com', 'sub-asks');
    await track('u@example.com', 'sub-other');
    const execution = await waitForStart(asks);
    await setSubscribed('u@example.com', false);
    await expectExited(execution, 'unsubscribed');
    await expectWaiting(await waitForStart(other));
  });
});

describe('the setting exitOn', () => {
  const createWorkflow = (body: object) =>
    service.call('POST', '/workflows', { body: { name: 'Exits', eventName: 'e', ...body } });

  it('is stored with its filters in the full form, and null removes it', async () => {
    const filters = { field: 'plan', operator: 'equals', value: 'pro' };
    const { id, exitOn } = await expectOk(
      createWorkflow({
        exitOn: [
          { eventName: ' left ', filters },
          { eventName: 'b', filters: [] },
        ],
      }),
    );
    expect(exitOn).toEqual([
      { eventName: 'left', filters: { logic: 'AND', groups: [{ filters: [filters] }] } },
      { eventName: 'b' },
    ]);
    expect(await expectOk(service.call('PATCH', `/workflows/${id}`, { body: { name: 'Same' } }))).toMatchObject({
      exitOn,
    });
    expect(await expectOk(service.call('PATCH', `/workflows/${id}`, { body: { exitOn: null } }))).toMatchObject({
      exitOn: [],
    });
  });

  it('reports errors at its field', async () => {
    const wrong = await createWorkflow({ exitOn: [{ eventName: 'a' }, { eventName: '' }] });
    expect(wrong).toMatchObject({ status: 422, body: { error: { errors: [{ field: 'exitOn.1.eventName' }] } } });
    const filters = [{ field: 'plan', operator: 'resembles', value: 'x' }];
    const bad = await createWorkflow({ exitOn: [{ eventName: 'a', filters }] });
    expect(bad.status).toBe(422);
    expect(bad.body.error.errors[0].field).toMatch(/^exitOn\.0\.filters/);
  });

  it('is refused beyond 16 KB, because every list of workflows contains it', async () => {
    const filters = Array.from({ length: 20 }, (_, n) => ({
      field: `f${n}`,
      operator: 'equals',
      value: 'x'.repeat(1_000),
    }));
    const large = await createWorkflow({ exitOn: [{ eventName: 'a', filters }] });
    expect(large).toMatchObject({ status: 422, body: { error: { errors: [{ field: 'exitOn', code: 'too_big' }] } } });
  });
});
