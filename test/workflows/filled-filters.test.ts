import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { track } from '../build/events.ts';
import { type BuiltWorkflow, buildWorkflow, expectOk, listExecutions, type StepSpec } from '../build/workflows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.close());

const createExit = (reason: string): StepSpec => ({ type: 'EXIT', config: { reason } });
const readStatus = async (workflow: BuiltWorkflow) => (await listExecutions(service, workflow.id))[0]?.status;
const waitForStart = (workflow: BuiltWorkflow) =>
  until(async () => (await listExecutions(service, workflow.id))[0]?.begun || undefined, 'the start of the execution');
const waitForExitReason = (workflow: BuiltWorkflow) =>
  until(async () => {
    const [execution] = await listExecutions(service, workflow.id);
    return execution?.completedAt ? (execution.exitReason as string) : undefined;
  }, 'the end of the execution');

describe('a wait whose filters use values of the triggering event', () => {
  const buildWaitingWorkflow = (eventName: string, value: string, operator = 'equals') =>
    buildWorkflow(service, {
      eventName,
      steps: {
        wait: {
          type: 'WAIT_FOR_EVENT',
          config: { eventName: 'ordered', timeout: 86_400, filters: [{ field: 'event.cartId', operator, value }] },
          to: { event: 'out', timeout: 'late' },
        },
        out: createExit('ordered'),
        late: createExit('late'),
      },
    });

  it('ends only by an event with the same value, also after a restart of the worker', async () => {
    const workflow = await buildWaitingWorkflow('left-cart', '{{ event.cartId }}');
    await track(service, 'cart@example.com', 'left-cart', { cartId: 'A1' });
    await waitForStart(workflow);
    await track(service, 'cart@example.com', 'ordered', { cartId: 'B2' });
    await track(service, 'cart@example.com', 'ordered', { cartId: '{{ event.cartId }}' });
    expect(await readStatus(workflow)).toBe('WAITING');
    await service.stopWorker();
    await service.startWorker();
    await track(service, 'cart@example.com', 'ordered', { cartId: 'A1' });
    expect(await waitForExitReason(workflow)).toBe('ordered');
  });

  it('compares numbers with numbers', async () => {
    const workflow = await buildWaitingWorkflow('spent', '{{ event.total | times: 2 }}', 'greaterThan');
    await track(service, 'spent@example.com', 'spent', { total: 0.15 });
    await waitForStart(workflow);
    await track(service, 'spent@example.com', 'ordered', { cartId: '9' });
    await track(service, 'spent@example.com', 'ordered', { cartId: 0.3 });
    expect(await readStatus(workflow)).toBe('WAITING');
    await track(service, 'spent@example.com', 'ordered', { cartId: 0.30000000000000004 });
    expect(await waitForExitReason(workflow)).toBe('ordered');
  });

  it('is ended by no event if the value is missing', async () => {
    const workflow = await buildWaitingWorkflow('lost-cart', '{{ event.cartId }}');
    await track(service, 'lost@example.com', 'lost-cart');
    await waitForStart(workflow);
    for (const data of [{}, { cartId: '' }, { cartId: 'A1' }, { cartId: null }])
      await track(service, 'lost@example.com', 'ordered', data);
    expect(await readStatus(workflow)).toBe('WAITING');
  });
});

describe('a CONDITION whose values are expressions', () => {
  it.each<[string, string, string, { limit?: number; plan?: string; total?: unknown; plans?: string[] }, string]>([
    ['data.limit', 'lessThan', '{{ event.total }}', { limit: 10, total: 10.5 }, 'yes'],
    ['data.limit', 'lessThan', '{{ event.total }}', { limit: 10, total: '10.5' }, 'no'],
    ['data.plan', 'equals', '{{ event.plan | downcase }}', { plan: 'pro', total: 1 }, 'yes'],
    ['data.plan', 'in', '{{ event.plans }}', { plan: 'pro', plans: ['free', 'pro'] }, 'yes'],
    ['event.total', 'equals', '{{ data.limit }}', { limit: 7, total: 7 }, 'yes'],
    ['data.plan', 'equals', '{{ event.missing }}', { plan: 'pro' }, 'no'],
    ['data.plan', 'notEquals', '{{ event.missing }}', { plan: 'pro' }, 'yes'],
  ])('compares %s %s %s with %j: %s', async (field, operator, value, given, branch) => {
    const eventName = `ask-${crypto.randomUUID()}`;
    const workflow = await buildWorkflow(service, {
      eventName,
      steps: {
        ask: { type: 'CONDITION', config: { field, operator, value }, to: { yes: 'yes', no: 'no' } },
        yes: createExit('yes'),
        no: createExit('no'),
      },
    });
    const email = `${eventName}@example.com`;
    const { limit, plan, total, plans } = given;
    await expectOk(service.call('POST', '/v1/contacts', { body: { email, data: { limit, plan } } }));
    const event = { total, plan: plan?.toUpperCase(), plans };
    await expectOk(service.call('POST', '/v1/track', { body: { email, event: eventName, data: event } }));
    expect(await waitForExitReason(workflow)).toBe(branch);
  });
});

describe('an exit event in a sandbox', () => {
  const filters = [{ field: 'event.cartId', operator: 'equals', value: '{{ context.cartId }}' }];

  async function buildWorkflowWithExitFilter(eventName: string): Promise<BuiltWorkflow> {
    const steps = {
      pause: { type: 'DELAY' as const, config: { amount: 1, unit: 'weeks' }, to: 'end' },
      end: createExit('waited'),
    };
    const workflow = await buildWorkflow(service, { eventName, steps, allowReentry: true });
    const exitOn = [{ eventName: 'ordered', filters }];
    await expectOk(service.call('PATCH', `/workflows/${workflow.id}`, { body: { exitOn } }));
    return workflow;
  }

  async function startExecution(workflow: BuiltWorkflow, email: string, body: object): Promise<string> {
    const contact = await expectOk(service.call('POST', '/contacts', { body: { email } }));
    const path = `/workflows/${workflow.id}/executions`;
    const given = { contactId: contact.id, context: { cartId: 'A1' }, ...body };
    return (await expectOk(service.call('POST', path, { body: given }))).id;
  }

  const readExecution = (workflow: BuiltWorkflow, id: string) =>
    expectOk(service.call('GET', `/workflows/${workflow.id}/executions/${id}`));
  const waitForEnd = (workflow: BuiltWorkflow, id: string) =>
    until(async () => {
      const execution = await readExecution(workflow, id);
      return execution.completedAt ? execution : undefined;
    }, 'the end of the sandbox');

  it('must match a simulated event; other events do not end the sandbox', async () => {
    const workflow = await buildWorkflowWithExitFilter('sandbox-exit');
    const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
    const other = { name: 'ordered', data: { cartId: 'B2' }, at: at(10) };
    const same = { name: 'ordered', data: { cartId: 'A1' }, at: at(20) };
    const left = await startExecution(workflow, 'left@example.com', {
      sandbox: true,
      skipDelays: true,
      events: [other, same],
    });
    expect(await waitForEnd(workflow, left)).toMatchObject({ status: 'EXITED', exitReason: 'exited_on_event' });
    const stayed = await startExecution(workflow, 'stayed@example.com', {
      sandbox: true,
      skipDelays: true,
      events: [other],
    });
    expect(await waitForEnd(workflow, stayed)).toMatchObject({ status: 'EXITED', exitReason: 'waited' });
  });

  it('a simulated exit event does not end the real execution, but a real event ends both', async () => {
    const workflow = await buildWorkflowWithExitFilter('real-exit');
    const email = 'both@example.com';
    const real = await startExecution(workflow, email, {});
    const waiting = await startExecution(workflow, email, { sandbox: true });
    const at = new Date(Date.now() + 60_000).toISOString();
    const events = [{ name: 'ordered', data: { cartId: 'A1' }, at }];
    const tried = await startExecution(workflow, email, { sandbox: true, skipDelays: true, events });
    expect(await waitForEnd(workflow, tried)).toMatchObject({ exitReason: 'exited_on_event' });
    await track(service, email, 'ordered', { cartId: 'B2' });
    for (const id of [real, waiting])
      expect(await readExecution(workflow, id)).toMatchObject({ status: 'WAITING', completedAt: null });
    await track(service, email, 'ordered', { cartId: 'A1' });
    for (const id of [real, waiting])
      expect(await waitForEnd(workflow, id)).toMatchObject({ status: 'EXITED', exitReason: 'exited_on_event' });
  });
});
