import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SmsProvider } from '../../channels/sms/provider.ts';
import { createTwilioProvider } from '../../channels/sms/twilio.ts';
import { type FakeTwilio, startFakeTwilio } from '../../cli/demo/twilio.ts';

let fake: FakeTwilio;
let provider: SmsProvider;

beforeAll(async () => {
  fake = await startFakeTwilio();
  provider = createTwilioProvider({
    accountSid: 'AC00000000000000000000000000000000',
    authToken: 'secret',
    baseUrl: fake.url,
    statusCallback: (id) => `https://mail.example.com/webhooks/twilio/status?id=${id}`,
  });
});
afterAll(() => fake.close());

const sms = { id: 'sms-1', from: '+15005550006', to: '+4915112345678', body: 'Grüße & more' };

it('a message is sent to Twilio form-encoded with its callback URL, and the id from Twilio is returned', async () => {
  const result = await provider.send(sms);
  expect(result).toMatchObject({
    outcome: 'accepted',
    status: 'QUEUED',
    providerMessageId: expect.stringMatching(/^SM/),
  });
  const [request] = fake.requests;
  expect(request?.path).toBe('/2010-04-01/Accounts/AC00000000000000000000000000000000/Messages.json');
  expect(request?.contentType).toContain('application/x-www-form-urlencoded');
  expect(Buffer.from(request?.authorization?.split(' ')[1] ?? '', 'base64').toString()).toBe(
    'AC00000000000000000000000000000000:secret',
  );
  expect(request?.params).toEqual({
    From: sms.from,
    To: sms.to,
    Body: sms.body,
    StatusCallback: 'https://mail.example.com/webhooks/twilio/status?id=sms-1',
  });
});

it('a permanent error of Twilio is a refusal, and a temporary error defers the message', async () => {
  fake.next.push({ status: 400, code: 21211, message: "The 'To' number is not a valid phone number." });
  expect(await provider.send(sms)).toMatchObject({ outcome: 'refused', error: expect.stringContaining('21211') });
  fake.next.push({ status: 429, code: 20429, message: 'Too Many Requests' });
  expect((await provider.send(sms)).outcome).toBe('later');
  fake.next.push({ status: 503, code: 20503, message: 'Service unavailable' });
  expect((await provider.send(sms)).outcome).toBe('later');
  fake.next.push({ status: 401, code: 20003, message: 'Authenticate' });
  expect((await provider.send(sms)).outcome).toBe('later');
  fake.next.push('hangup');
  expect((await provider.send(sms)).outcome).toBe('later');
});

it('a message is deferred if the client of Twilio cannot be created', async () => {
  const broken = createTwilioProvider({
    accountSid: 'no account',
    authToken: 'secret',
    statusCallback: () => fake.url,
  });
  expect(await broken.send(sms)).toMatchObject({ outcome: 'later', error: expect.stringContaining('accountSid') });
});
