import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setSmsConsent } from '../../db/sms/ledger.ts';
import { inTransaction } from '../../db/transaction.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { TEST_SECRET_KEY } from '../build/senders.ts';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const SENDER = '+15005550006';
const key = deriveKey(TEST_SECRET_KEY, 'suppression');
let service: TestService;

beforeAll(async () => {
  service = await startTestService({ SMS_PROVIDER: 'capture' });
  await service.db
    .insertInto('sms_senders')
    .values({ project_id: service.one.id, country: null, from_phone: SENDER })
    .execute();
});
afterAll(() => service?.close());

/**
 * Runs a workflow with a single SEND_SMS step for a contact. Returns the result of the step and the SMS to the
 * contact's number.
 */
async function runStep(p: { event: string; config: Record<string, unknown>; data: Record<string, unknown> }) {
  const { event, config, data } = p;
  const workflow = await buildWorkflow(service, {
    eventName: event,
    steps: { sms: { type: 'SEND_SMS', config, to: 'end' }, end: { type: 'EXIT', config: { reason: 'told' } } },
  });
  await expectOk(service.call('POST', '/contacts', { body: { email: `${event}@example.com`, data } }));
  return trackAndReadResult(workflow.id, event);
}

async function trackAndReadResult(workflowId: string, event: string) {
  await expectOk(service.call('POST', '/v1/track', { body: { email: `${event}@example.com`, event } }));
  const execution = await until(async () => {
    const { data } = await expectOk(service.call('GET', `/workflows/${workflowId}/executions`));
    return data[0]?.completedAt ? data[0] : undefined;
  }, 'the end of the execution');
  const detail = await expectOk(service.call('GET', `/workflows/${workflowId}/executions/${execution.id}`));
  // The execution continues although its SMS was not sent.
  expect(detail).toMatchObject({ status: 'EXITED', exitReason: 'told' });
  return detail.steps[0];
}

const listSmsTo = async (phone: string) =>
  (await expectOk(service.call('GET', `/v1/sms?to=${encodeURIComponent(phone)}`))).data;

describe('a SEND_SMS step', () => {
  it('sends its rendered text to the number of the contact, from the given sender', async () => {
    const phone = '+4915112345601';
    const body = "Hi {{firstName | upcase}} & co{% if plan == 'pro' %}, thanks{% endif %}: {{ gone ?? 'no code' }}";
    const visit = await runStep({
      event: 'shipped',
      config: { body, from: SENDER },
      data: { phone, firstName: 'Ada', plan: 'pro' },
    });
    expect(visit).toMatchObject({ type: 'SEND_SMS', status: 'COMPLETED', output: { smsId: expect.any(String) } });
    const sent = await until(async () => {
      const { data } = await expectOk(service.call('GET', `/v1/sms/${visit.output.smsId}`));
      return data.status === 'PENDING' ? undefined : data;
    }, 'the SMS');
    expect(sent).toMatchObject({ sourceType: 'WORKFLOW', workflowExecutionId: expect.any(String) });
    expect(sent.workflowId).toEqual(expect.any(String));
    expect(sent).toMatchObject({ to: phone, from: SENDER, body: 'Hi ADA & co, thanks: no code' });
    expect(await listSmsTo(phone)).toHaveLength(1);
  });

  it('is SKIPPED with no_phone for a contact without a number', async () => {
    const visit = await runStep({ event: 'nowhere', config: { body: 'Hello' }, data: { phone: 'none' } });
    expect(visit).toMatchObject({ status: 'SKIPPED', output: { reason: 'no_phone' } });
  });

  it('is SKIPPED with sms_stopped after STOP', async () => {
    const phone = '+4915112345602';
    await expectOk(service.call('POST', '/contacts', { body: { email: 'stopped@example.com', data: { phone } } }));
    await inTransaction(service.db, (trx) => setSmsConsent(trx, key, { phone, sender: SENDER, consents: false }));
    const workflow = await buildWorkflow(service, {
      eventName: 'stopped',
      steps: {
        sms: { type: 'SEND_SMS', config: { body: 'Hello' }, to: 'end' },
        end: { type: 'EXIT', config: { reason: 'told' } },
      },
    });
    const visit = await trackAndReadResult(workflow.id, 'stopped');
    expect(visit).toMatchObject({ status: 'SKIPPED', output: { reason: 'sms_stopped' } });
    expect(await listSmsTo(phone)).toEqual([]);
  });

  it('is FAILED with template_error above 1,600 characters; 1,600 characters are sent', async () => {
    const config = { body: '{{text}}' };
    const long = { phone: '+4915112345603', text: 'x'.repeat(1_601) };
    const visit = await runStep({ event: 'long', config, data: long });
    expect(visit).toMatchObject({ status: 'FAILED', output: { reason: 'template_error' } });
    expect(visit.error).toContain('1601');
    const full = { phone: '+4915112345604', text: 'x'.repeat(1_600) };
    expect(await runStep({ event: 'full', config, data: full })).toMatchObject({ status: 'COMPLETED' });
  });

  it('is FAILED with the reason if its sender does not belong to the project', async () => {
    const data = { phone: '+4915112345605' };
    const visit = await runStep({ event: 'strange', config: { body: 'Hello', from: '+4930000000' }, data });
    expect(visit).toMatchObject({ status: 'FAILED', error: expect.stringContaining('+4930000000') });
  });
});

describe('the config of a SEND_SMS step', () => {
  const createSmsStep = async (config: Record<string, unknown>) => {
    const { id } = await expectOk(service.call('POST', '/workflows', { body: { name: 'Draft', eventName: 'draft' } }));
    return {
      id,
      response: await service.call('POST', `/workflows/${id}/steps`, { body: { type: 'SEND_SMS', config } }),
    };
  };

  it('is refused with text that is not Liquid, or with a template, because templates are for email', async () => {
    const bad = await createSmsStep({ body: 'Hi {{ name' });
    expect(bad.response).toMatchObject({ status: 422, body: { error: { errors: [{ field: 'config.body' }] } } });
    const template = await createSmsStep({ templateId: '0190a000-0000-7000-8000-000000000001' });
    expect(template.response).toMatchObject({
      status: 422,
      body: { error: { errors: [{ field: 'config.templateId' }] } },
    });
  });

  it('may have no text until the workflow is enabled', async () => {
    const { id, response } = await createSmsStep({ transactional: true });
    expect(response).toMatchObject({ status: 201, body: { config: { transactional: true } } });
    const enabled = await service.call('PATCH', `/workflows/${id}`, { body: { enabled: true } });
    expect(enabled.status).toBe(422);
    expect(JSON.stringify(enabled.body)).toContain('has no body');
  });
});
