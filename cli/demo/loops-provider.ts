import { createHmac } from 'node:crypto';
import { type ChannelTourContext, deliverBySmtp, sendToNewContact, sendTourEmail } from './channel-tour.ts';
import { waitFor } from './client.ts';
import type { Loop } from './loop.ts';
import { loadPixel } from './loops-email.ts';
import { buildDeliveryNotice } from './notices.ts';
import type { DemoProviders } from './providers.ts';
import type { ReceivedHook } from './receiver.ts';
import { assertRecord, printContent, RECORD_TIMEOUT_MS, showRecord } from './record.ts';

/** The state that the loops of this file share. The service sends to the demo's own servers, `providers`. */
export interface ProviderTourContext extends ChannelTourContext {
  /** Base address of the service. */
  readonly baseUrl: string;
  readonly providers: DemoProviders;
}

/**
 * The loops (`loop.ts`) that need the demo's own servers on this machine: a mail server, a fake Twilio API and a web
 * server. Workers must be allowed to call these servers.
 */
export const PROVIDER_LOOPS: readonly Loop<ProviderTourContext>[] = [
  { title: 'A hard bounce: refused during the SMTP session', close: closeRefusalLoop },
  { title: 'An unreachable mail host: a Transient bounce, no one is unsubscribed', close: closeNoRouteLoop },
  { title: 'An SMS: Twilio reports the delivery, the person replies STOP', close: closeSmsLoop },
  { title: 'A webhook: signed (Standard Webhooks)', close: closeWebhookLoop },
];

const PHONE = '+4915112345678';

async function closeRefusalLoop(tour: ProviderTourContext): Promise<string> {
  const sent = await sendToNewContact(tour, 'refused');
  return showRecord(tour, sent, {
    status: 'BOUNCED',
    reason: 'bounced:dead_mailbox',
    event: 'email.bounce',
    subscribed: false,
    because: 'bounce',
    suppressed: 'hard_bounce',
  });
}

async function closeNoRouteLoop(tour: ProviderTourContext): Promise<string> {
  const email = await sendTourEmail(tour, 'unroutable');
  const diagnostic = '550 5.4.4 Unable to route: no mail hosts for domain';
  const raw = buildDeliveryNotice({ to: email.to, action: 'failed', status: '5.4.4', diagnostic });
  await deliverBySmtp(tour, 'notification', { from: '', to: email.returnPath, raw });
  return showRecord(tour, email, { status: 'BOUNCED', event: 'email.bounce', subscribed: true });
}

async function closeSmsLoop(tour: ProviderTourContext): Promise<string> {
  const { client, report, toDomain } = tour;
  const { id: contactId } = await client.call('POST', '/contacts', {
    email: `sms@${toDomain}`,
    data: { phone: PHONE },
  });
  const delivered = await sendSms(tour, 'QUEUED');
  const request = tour.providers.twilio.requests.at(-1);
  const callback = request?.params.StatusCallback ?? '';
  report.line(`Twilio's API got ${JSON.stringify(request?.params)}`);
  await postTwilioCallback(tour, callback, { MessageSid: delivered.messageId, MessageStatus: 'delivered' });
  const sms = await waitForSms(tour, delivered.id, 'DELIVERED');
  printContent(tour, 'sms', sms);
  const stop = { From: PHONE, To: sms.from, Body: 'STOP' };
  await postTwilioCallback(tour, `${tour.baseUrl}/webhooks/twilio/inbound`, stop);
  const { email, subscribed, smsSubscribed } = await client.call('GET', `/contacts/${contactId}`);
  printContent(tour, 'contact', { email, subscribed, smsSubscribed });
  const stopped = await sendSms(tour, 'FAILED');
  printContent(tour, 'sms', stopped);
  return assertRecord(
    { status: 'DELIVERED', smsSubscribed: false, next: 'FAILED, sms_stopped' },
    { status: sms.status, smsSubscribed, next: `${stopped.status}, ${stopped.reason}` },
  );
}

async function sendSms(tour: ProviderTourContext, status: string) {
  const { id } = await tour.client.call('POST', '/v1/sms/send', { to: PHONE, body: 'Your code is 4711' });
  return waitForSms(tour, id, status);
}

function waitForSms({ client, report }: ProviderTourContext, id: string, status: string) {
  const find = async () => {
    const { data } = await client.call('GET', `/v1/sms/${id}`);
    if (data.status === status) return data;
    report.progress(`SMS ${id} is ${data.status} …`);
    return undefined;
  };
  return waitFor(`${status} of SMS ${id}`, find, RECORD_TIMEOUT_MS);
}

/** Sends a callback to the service like Twilio, with a signature that Twilio's SDK computes. */
async function postTwilioCallback(
  tour: ProviderTourContext,
  url: string,
  params: Record<string, string>,
): Promise<void> {
  const { default: twilio } = await import('twilio'); // Imported here, because loading it takes a third of a second.
  const signature = twilio.getExpectedTwilioSignature(tour.providers.twilioAuthToken, url, params);
  const headers = { 'x-twilio-signature': signature };
  const response = await fetch(url, { method: 'POST', headers, body: new URLSearchParams(params) });
  tour.report.line(`POST ${url} ${JSON.stringify(params)}, signed: ${response.status}`);
  if (!response.ok) throw new Error(`the callback returned ${response.status}`);
}

async function closeWebhookLoop(tour: ProviderTourContext): Promise<string> {
  const { client, report } = tour;
  const { hooks } = tour.providers;
  const { id, secret } = await client.call('POST', '/webhooks', { url: hooks.url, events: ['email.open'] });
  report.line(`${hooks.url} is registered for email.open`);
  const email = await sendTourEmail(tour, 'hooked');
  await loadPixel(tour, email);
  const request = await waitFor('the webhook', async () => hooks.received[0], RECORD_TIMEOUT_MS);
  const { type, data } = verifyHook(request, secret);
  report.line(
    `webhook-id ${request.headers['webhook-id']}: its signature matches the body, and does not match an altered body`,
  );
  printContent(tour, 'webhook', data, type);
  const find = async () => {
    const [delivery] = (await client.call('GET', `/webhooks/${id}/deliveries`)).data;
    return delivery?.status === 'DELIVERED' && delivery;
  };
  const { status, attempts, responseStatus } = await waitFor('its record', find, RECORD_TIMEOUT_MS);
  printContent(tour, 'delivery', { event: type, status, attempts, responseStatus });
  return assertRecord(
    { event: 'email.open', emailId: email.emailId, delivery: 'DELIVERED' },
    { event: type, emailId: data.event.emailId, delivery: status },
  );
}

/**
 * Checks the signature of a webhook request and returns the body. Computes the signature as a receiver would, by the
 * Standard Webhooks specification and without code of the service.
 * @throws Error if the signature is wrong, or fits an altered body too
 */
function verifyHook({ headers, body }: ReceivedHook, secret: string) {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const isSigned = (text: string) => {
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`;
    const signature = createHmac('sha256', key).update(signed).digest('base64');
    return String(headers['webhook-signature']).split(' ').includes(`v1,${signature}`);
  };
  if (!isSigned(body)) throw new Error('the signature of the webhook is wrong');
  if (isSigned(`${body} `)) throw new Error('the signature also matches an altered body');
  return JSON.parse(body) as { type: string; data: { event: { emailId: string } } };
}
