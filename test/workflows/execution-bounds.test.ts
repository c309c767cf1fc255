import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { track } from '../build/events.ts';
import { buildDomain, buildTemplate } from '../build/senders.ts';
import { buildWorkflow, expectOk, listExecutions } from '../build/workflows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let templateId: string;

beforeAll(async () => {
  service = await startTestService();
  await buildDomain(service.db, { projectId: service.one.id });
  templateId = await buildTemplate(service.db, { projectId: service.one.id });
});

afterAll(async () => {
  await service?.close();
});

const waitForEnd = async (workflowId: string) => {
  const execution = await until(async () => {
    const [found] = await listExecutions(service, workflowId);
    return found?.completedAt ? found : undefined;
  }, 'the end of the execution');
  return expectOk(service.call('GET', `/workflows/${workflowId}/executions/${execution.id}`));
};

const listEmailsTo = async (email: string) => (await expectOk(service.call('GET', `/v1/emails?to=${email}`))).data;

describe('an execution that runs in a cycle', () => {
  it('sends one email and ends FAILED `loop` if the time of its DELAY has passed', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'renewal',
      steps: {
        mail: { type: 'SEND_EMAIL', config: { templateId }, to: 'pause' },
        pause: { type: 'DELAY', config: { until: '{{renewsAt}}' }, to: 'mail' },
      },
    });
    await track(service, 'past@example.com', 'renewal', { renewsAt: '2020-01-01T00:00:00Z' });
    expect(await waitForEnd(workflow.id)).toMatchObject({
      status: 'FAILED',
      error: 'loop',
      currentStepId: workflow.steps.mail,
      steps: [
        { type: 'SEND_EMAIL', status: 'COMPLETED' },
        { type: 'DELAY', status: 'COMPLETED' },
        { type: 'SEND_EMAIL', status: 'FAILED', error: 'loop' },
      ],
    });
    expect(await listEmailsTo('past@example.com')).toHaveLength(1);
  });

  it('ends in the same way if it is edited into a cycle with a short wait', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'hasty',
      steps: {
        mail: { type: 'SEND_EMAIL', config: { templateId }, to: 'pause' },
        pause: { type: 'DELAY', config: { amount: 2, unit: 'minutes' }, to: 'mail' },
      },
    });
    const config = { amount: 0.000001, unit: 'seconds' };
    await expectOk(
      service.call('PATCH', `/workflows/${workflow.id}/steps/${workflow.steps.pause}`, { body: { config } }),
    );
    await track(service, 'hasty@example.com', 'hasty');
    expect(await waitForEnd(workflow.id)).toMatchObject({ status: 'FAILED', error: 'loop' });
    expect(await listEmailsTo('hasty@example.com')).toHaveLength(1);
  });
});

describe('workflows that trigger each other', () => {
  it('stop at the tenth execution, and the stop is recorded in the execution that caused it', async () => {
    const buildToggleWorkflow = (subscribed: boolean) =>
      buildWorkflow(service, {
        eventName: subscribed ? 'contact.unsubscribed' : 'contact.subscribed',
        allowReentry: true,
        steps: { update: { type: 'UPDATE_CONTACT', config: { subscribed } } },
      });
    // The contact is added before the workflows exist, because adding it would start them.
    const { data } = await track(service, 'toggle@example.com', 'unrelated');
    const on = await buildToggleWorkflow(true);
    const off = await buildToggleWorkflow(false);
    await expectOk(service.call('PATCH', `/contacts/${data.contact}`, { body: { subscribed: false } }));
    const all = await until(async () => {
      const found = [...(await listExecutions(service, on.id)), ...(await listExecutions(service, off.id))];
      return found.some(({ error }) => error === 'event_depth') && found.every(({ completedAt }) => completedAt)
        ? found
        : undefined;
    }, 'the end of the chain');
    expect(all).toHaveLength(10);
    expect(all.filter(({ error }) => error !== null)).toMatchObject([{ status: 'COMPLETED', error: 'event_depth' }]);
    const events = await expectOk(service.call('GET', '/events?limit=100'));
    const changes = events.data.filter(
      ({ name, contactId }: { name: string; contactId: string }) =>
        name.startsWith('contact.') && contactId === data.contact,
    );
    expect(changes).toHaveLength(12);
  });
});

describe('workflows that trigger each other by the emails they send', () => {
  it('stop at the limit of the event depth too', async () => {
    const email = { mail: { type: 'SEND_EMAIL' as const, config: { templateId } } };
    const buildSelfStartingWorkflow = () =>
      buildWorkflow(service, { eventName: 'email.sent', allowReentry: true, steps: email });
    const both = [await buildSelfStartingWorkflow(), await buildSelfStartingWorkflow()];
    const start = await buildWorkflow(service, { eventName: 'chain', steps: email });
    await track(service, 'chain@example.com', 'chain');
    const all = await until(async () => {
      const found = (await Promise.all([start, ...both].map(({ id }) => listExecutions(service, id)))).flat();
      return found.some(({ error }) => error === 'event_depth') && found.every(({ completedAt }) => completedAt)
        ? found
        : undefined;
    }, 'the end of the chain');
    expect(all.every(({ status }) => status === 'COMPLETED')).toBe(true);
    for (const { id } of both) {
      await expectOk(service.call('PATCH', `/workflows/${id}`, { body: { enabled: false } }));
    }
  });
});

describe('a step with a long name', () => {
  it.each([
    ['200 characters of three bytes', '歡'.repeat(200)],
    ['100 characters of four bytes', '🎉'.repeat(100)],
    ['characters that JSON escapes in six characters', '\u0001'.repeat(200)],
    ['quotes', '"'.repeat(200)],
  ])('is run: %s', async (what, name) => {
    const workflow = await buildWorkflow(service, {
      eventName: what,
      steps: {
        [name]: { type: 'DELAY', config: { amount: 1, unit: 'seconds' }, to: `${name.slice(2)}w` },
        [`${name.slice(2)}w`]: {
          type: 'WAIT_FOR_EVENT',
          config: { eventName: '待'.repeat(255), timeout: 1 },
          to: `${name.slice(4)}mail`,
        },
        [`${name.slice(4)}mail`]: { type: 'SEND_EMAIL', config: { templateId } },
      },
    });
    await track(service, 'name@example.com', what);
    expect(await waitForEnd(workflow.id)).toMatchObject({ status: 'COMPLETED' });
  });
});
