import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STEP_TYPES } from '../../rules/executions/steps/registry.ts';
import { buildDomain, buildTemplate } from '../build/senders.ts';
import { createStepsOfEachType } from '../build/step-samples.ts';
import { type BuiltWorkflow, buildWorkflow, expectOk } from '../build/workflows.ts';
import { readRowsWrittenByRequests } from '../support/rows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

let service: TestService;
let receiver: WebhookReceiver;
let plain: string;
let marketing: string;

beforeAll(async () => {
  service = await startTestService({ SMS_PROVIDER: 'capture' });
  receiver = await startWebhookReceiver();
  const projectId = service.one.id;
  await buildDomain(service.db, { projectId });
  plain = await buildTemplate(service.db, { projectId, subject: 'Your plan: {{plan}}' });
  marketing = await buildTemplate(service.db, { projectId, type: 'MARKETING' });
  const sender = { project_id: projectId, country: null, from_phone: '+15005550006' };
  await service.db.insertInto('sms_senders').values(sender).execute();
});

afterAll(async () => {
  await receiver?.close();
  await service?.close();
});

const createContact = async (email: string) =>
  (await expectOk(service.call('POST', '/contacts', { body: { email, subscribed: true, data: { plan: 'free' } } }))).id;

const runInSandbox = async (workflow: BuiltWorkflow, body: Record<string, unknown>) => {
  const path = `/workflows/${workflow.id}/executions`;
  const { id } = await expectOk(service.call('POST', path, { body: { sandbox: true, ...body } }));
  return until(async () => {
    const execution = await expectOk(service.call('GET', `${path}/${id}`));
    return execution.completedAt ? execution : undefined;
  }, 'the end of the sandbox');
};

describe('a sandbox of a workflow', () => {
  it('runs every step of a disabled workflow, and changes no contact, calls no endpoint, starts no workflow and counts nowhere', async () => {
    const other = await buildWorkflow(service, { eventName: 'contact.unsubscribed', steps: { end: { type: 'EXIT' } } });
    const counted = await expectOk(service.call('GET', '/activity/stats'));
    const workflow = await buildWorkflow(service, {
      enabled: false,
      steps: {
        pause: { type: 'DELAY', config: { amount: 3, unit: 'days' }, to: 'update' },
        update: { type: 'UPDATE_CONTACT', config: { updates: { plan: 'pro' }, subscribed: false }, to: 'isPro' },
        isPro: {
          type: 'CONDITION',
          config: { field: 'data.plan', operator: 'equals', value: 'pro' },
          to: { yes: 'mail', no: 'wrong' },
        },
        wrong: { type: 'EXIT', config: { reason: 'wrong' } },
        mail: { type: 'SEND_EMAIL', config: { templateId: plain }, to: 'sent' },
        sent: { type: 'WAIT_FOR_EVENT', config: { eventName: 'email.sent', timeout: 60 }, to: { event: 'news' } },
        news: { type: 'SEND_EMAIL', config: { templateId: marketing }, to: 'hook' },
        hook: { type: 'WEBHOOK', config: { url: `${receiver.url}/hook` }, to: 'wait' },
        wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'never', timeout: 3_600 }, to: { timeout: 'end' } },
        end: { type: 'EXIT', config: { reason: 'done' } },
      },
    });
    const contactId = await createContact('tried@example.com');
    const before = await expectOk(service.call('GET', `/contacts/${contactId}`));
    const execution = await runInSandbox(workflow, { contactId, skipDelays: true });
    expect(execution).toMatchObject({ sandbox: true, status: 'EXITED', exitReason: 'done' });
    expect(execution.steps).toMatchObject([
      { type: 'DELAY', status: 'COMPLETED' },
      { type: 'UPDATE_CONTACT', status: 'COMPLETED', output: { updated: ['plan'], subscribed: false } },
      { type: 'CONDITION', output: { branch: 'yes' } },
      { type: 'SEND_EMAIL', status: 'COMPLETED' },
      { type: 'WAIT_FOR_EVENT', output: { branch: 'event' } },
      { type: 'SEND_EMAIL', status: 'SKIPPED', output: { reason: 'unsubscribed' } },
      { type: 'WEBHOOK', status: 'COMPLETED', output: { statusCode: 200 } },
      { type: 'WAIT_FOR_EVENT', output: { branch: 'timeout' } },
      { type: 'EXIT' },
    ]);
    const email = await expectOk(service.call('GET', `/v1/emails/${execution.steps[3].output.emailId}`));
    expect(email.data).toMatchObject({ mode: 'test', status: 'SENT', subject: 'Your plan: pro' });
    expect(receiver.received).toEqual([]);
    expect(await expectOk(service.call('GET', `/contacts/${contactId}`))).toEqual(before);
    expect((await expectOk(service.call('GET', `/workflows/${other.id}/executions`))).data).toEqual([]);
    expect(await expectOk(service.call('GET', '/activity/stats'))).toEqual(counted);
    const feed = await expectOk(service.call('GET', `/activity?contactId=${contactId}`));
    expect(feed.data.filter(({ type }: { type: string }) => type !== 'contact.subscribed')).toEqual([]);
    expect((await expectOk(service.call('GET', `/events/contact/${contactId}`))).data).toHaveLength(feed.data.length);
  });

  it('changes only its own rows, for every type of step', async () => {
    const { id: segmentId } = await expectOk(
      service.call('POST', '/segments', { body: { name: 'Members', type: 'STATIC' } }),
    );
    const named = { templateId: plain, segmentId, url: `${receiver.url}/each`, seconds: 3_600 };
    const workflow = await buildWorkflow(service, { enabled: false, steps: createStepsOfEachType(named) });
    const data = { plan: 'free', phone: '+14155550123' };
    const { id: contactId } = await expectOk(
      service.call('POST', '/contacts', { body: { email: 'each@example.com', subscribed: true, data } }),
    );
    const before = await readRowsWrittenByRequests(service.db);
    const execution = await runInSandbox(workflow, { contactId, skipDelays: true });
    expect(execution).toMatchObject({ status: 'EXITED', exitReason: 'done' });
    expect(execution.steps).toHaveLength(STEP_TYPES.length);
    // Content is omitted because all emails with equal text share it, and outbox rows because they are deleted
    // meanwhile.
    const isCompared = (row: string) => !row.includes(execution.id) && !/^(?:contents|outbox) /.test(row);
    expect((await readRowsWrittenByRequests(service.db)).filter(isCompared)).toEqual(before.filter(isCompared));
    expect(receiver.received).toEqual([]);
  });

  it('does not count as an entry: the contact can still enter exactly once', async () => {
    const workflow = await buildWorkflow(service, {
      triggerType: 'MANUAL',
      steps: { pause: { type: 'DELAY', config: { amount: 1, unit: 'days' } } },
    });
    const contactId = await createContact('entry@example.com');
    const path = `/workflows/${workflow.id}/executions`;
    const startExecution = (body = {}) => service.call('POST', path, { body: { contactId, ...body } });
    expect((await startExecution({ sandbox: true })).status).toBe(201);
    expect((await startExecution({ sandbox: true })).status).toBe(201);
    expect((await startExecution()).status).toBe(201);
    expect((await startExecution()).status).toBe(409);
    expect((await startExecution({ sandbox: true })).status).toBe(201);
    expect((await expectOk(service.call('GET', `${path}?sandbox=true`))).total).toBe(3);
    expect((await expectOk(service.call('GET', `${path}?sandbox=false`))).total).toBe(1);
    expect((await expectOk(service.call('GET', '/activity/upcoming'))).activities).toHaveLength(1);
  });

  it('ends a wait by the given events, each once at its time', async () => {
    const createWaitStep = (to: string) => ({
      type: 'WAIT_FOR_EVENT' as const,
      config: {
        eventName: 'order',
        timeout: 86_400,
        filters: {
          logic: 'AND',
          groups: [{ filters: [{ field: 'event.total', operator: 'greaterThan', value: 10 }] }],
        },
      },
      to: { event: to, timeout: 'late' },
    });
    const workflow = await buildWorkflow(service, {
      steps: {
        first: createWaitStep('second'),
        second: createWaitStep('third'),
        third: createWaitStep('late'),
        late: { type: 'EXIT', config: { reason: 'late' } },
      },
    });
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const execution = await runInSandbox(workflow, {
      contactId: await createContact('given@example.com'),
      skipDelays: true,
      events: [
        { name: 'order', data: { total: 5 } },
        { name: 'order', data: { total: 50 }, at },
        { name: 'order', data: { total: 20 } },
      ],
    });
    expect(execution.steps.map(({ output }: { output: { branch?: string } }) => output?.branch)).toEqual([
      'event',
      'event',
      'timeout',
      undefined,
    ]);
  });

  it('has settings that are refused for a real execution', async () => {
    const workflow = await buildWorkflow(service, { steps: { end: { type: 'EXIT' } } });
    const contactId = await createContact('plain@example.com');
    const refused = await service.call('POST', `/workflows/${workflow.id}/executions`, {
      body: { contactId, skipDelays: true },
    });
    expect(refused).toMatchObject({ status: 422, body: { error: { errors: [{ field: 'skipDelays' }] } } });
  });
});
