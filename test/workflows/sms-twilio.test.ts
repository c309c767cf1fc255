import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FakeTwilio, startFakeTwilio } from '../../cli/demo/twilio.ts';
import { computeTwilioSignature } from '../../rules/sms/twilio-signature.ts';
import { connectOperator } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const TOKEN = 'the token of the tests';
let twilio: FakeTwilio;
let service: TestService;

beforeAll(async () => {
  twilio = await startFakeTwilio();
  service = await startTestService({
    SMS_PROVIDER: 'twilio',
    TWILIO_ACCOUNT_SID: 'AC00000000000000000000000000000000',
    TWILIO_AUTH_TOKEN: TOKEN,
    TWILIO_BASE_URL: twilio.url,
    PUBLIC_URL: 'https://mail.example.com',
  });
  await service.db
    .insertInto('sms_senders')
    .values({ project_id: service.one.id, country: null, from_phone: '+15005550006' })
    .execute();
});
afterAll(async () => {
  await service?.close();
  await twilio?.close();
});

const send = async (to: string, key?: string) =>
  (await service.call('POST', '/v1/sms/send', { body: { to, body: 'Your code is 4711' }, ...(key && { key }) })).body
    .id;
const readSms = async (id: string) => (await service.call('GET', `/v1/sms/${id}`)).body.data;
const waitForStatus = (id: string, status: string) =>
  until(async () => ((await readSms(id)).status === status ? readSms(id) : undefined), status);

it('an SMS is sent with Twilio, and Twilio reports its result to our callback URL', async () => {
  const id = await send('+4915112345678');
  const queued = await waitForStatus(id, 'QUEUED');
  const request = twilio.requests[0];
  expect(request?.params).toMatchObject({ From: '+15005550006', To: '+4915112345678', Body: 'Your code is 4711' });
  const callback = request?.params.StatusCallback ?? '';
  const params = { MessageSid: queued.messageId, MessageStatus: 'undelivered', ErrorCode: '30003' };
  const { pathname, search } = new URL(callback);
  const response = await fetch(`${service.baseUrl}${pathname}${search}`, {
    method: 'POST',
    headers: { 'x-twilio-signature': computeTwilioSignature(TOKEN, callback, params) },
    body: new URLSearchParams(params),
  });
  expect(response.ok).toBe(true);
  expect(await readSms(id)).toMatchObject({
    status: 'UNDELIVERED',
    reason: 'provider_rejected',
    error: 'Twilio 30003',
  });
});

it('an SMS that Twilio refuses permanently is FAILED with Twilio’s text', async () => {
  twilio.next.push({ status: 400, code: 21211, message: "The 'To' number is not valid" });
  const failed = await waitForStatus(await send('+4915112345679'), 'FAILED');
  expect(failed).toMatchObject({ reason: 'invalid_number', error: expect.stringContaining('21211') });
});

it('Temporal shows which attempt Twilio has deferred, with error codes only', async () => {
  const operator = await connectOperator(service);
  try {
    twilio.next.push({ status: 503, code: 20503, message: '+4915112345677 waits' });
    const id = await send('+4915112345677');
    const details = await until(async () => {
      const query = `WorkflowType = 'smsDelivery' AND ProjectId = '${service.one.id}'`;
      for await (const { workflowId } of operator.client.workflow.list({ query })) {
        const handle = operator.client.workflow.getHandle(workflowId);
        const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
        if (currentDetails.includes('next attempt')) return currentDetails;
      }
      return undefined;
    }, 'the details of the delivery');
    expect(details).toMatch(new RegExp(`^- ${id}, attempt 1 by twilio: 503 \\(20503\\), next attempt at `, 'm'));
    expect(details).not.toContain('+49');
  } finally {
    await operator.close();
  }
});

it('an SMS of a test key ends SENT without a request to Twilio', async () => {
  const before = twilio.requests.length;
  await waitForStatus(await send('+4915112345670', service.one.testKey), 'SENT');
  expect(twilio.requests).toHaveLength(before);
});
