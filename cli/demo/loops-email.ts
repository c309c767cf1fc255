import { createTransport } from 'nodemailer';
import { emailDomain } from '../../rules/emails/email-address.ts';
import { type ChannelTourContext, deliverBySmtp, sendTourEmail } from './channel-tour.ts';
import { waitFor } from './client.ts';
import type { Loop } from './loop.ts';
import { buildAbuseReport, buildDeliveryNotice } from './notices.ts';
import { assertRecord, RECORD_TIMEOUT_MS, showRecord } from './record.ts';

/** The user agent of an email client that a person uses. The service counts requests of scanners separately. */
const READER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.0' };

/**
 * The loops of the email channel. They need a service that captures its email or sends it to the mail server of the
 * tour.
 */
export const EMAIL_LOOPS: readonly Loop<ChannelTourContext>[] = [
  { title: 'A delivery: the receiving server reports it (RFC 3464)', close: closeDeliveryLoop },
  { title: 'A hard bounce: a report to the return path (RFC 3464)', close: closeBounceLoop },
  { title: 'A complaint: an abuse report (RFC 5965)', close: closeComplaintLoop },
  { title: 'An open: the pixel', close: closeOpenLoop },
  { title: 'A click: the signed redirect', close: closeClickLoop },
  { title: 'One click to unsubscribe (RFC 8058)', close: closeUnsubscribeLoop },
  { title: 'A reply: mail to the verified domain', close: closeReplyLoop },
  { title: 'The SMTP relay: a program sends', close: closeRelayLoop },
];

async function closeDeliveryLoop(tour: ChannelTourContext): Promise<string> {
  const email = await sendTourEmail(tour, 'delivered');
  const diagnostic = '250 2.0.0 Ok: queued';
  const raw = buildDeliveryNotice({ to: email.to, action: 'delivered', status: '2.0.0', diagnostic });
  await deliverBySmtp(tour, 'notification', { from: '', to: email.returnPath, raw });
  return showRecord(tour, email, { status: 'DELIVERED', event: 'email.delivery', subscribed: true });
}

async function closeBounceLoop(tour: ChannelTourContext): Promise<string> {
  const email = await sendTourEmail(tour, 'gone');
  const diagnostic = `550 5.1.1 <${email.to}>: Recipient address rejected: User unknown`;
  const raw = buildDeliveryNotice({ to: email.to, action: 'failed', status: '5.1.1', diagnostic });
  await deliverBySmtp(tour, 'notification', { from: '', to: email.returnPath, raw });
  return showRecord(tour, email, {
    status: 'BOUNCED',
    reason: 'bounced:dead_mailbox',
    event: 'email.bounce',
    subscribed: false,
    because: 'bounce',
    suppressed: 'hard_bounce',
  });
}

async function closeComplaintLoop(tour: ChannelTourContext): Promise<string> {
  const email = await sendTourEmail(tour, 'annoyed');
  const to = `abuse@${emailDomain(tour.from)}`;
  await deliverBySmtp(tour, 'abuse report', { from: 'feedback@isp.example', to, raw: buildAbuseReport(email) });
  return showRecord(tour, email, {
    status: 'COMPLAINED',
    event: 'email.complaint',
    subscribed: false,
    because: 'complaint',
    suppressed: 'complaint',
  });
}

async function closeOpenLoop(tour: ChannelTourContext): Promise<string> {
  const email = await sendTourEmail(tour, 'opens');
  await loadPixel(tour, email);
  return showRecord(tour, email, { status: 'OPENED', event: 'email.open', subscribed: true });
}

/** Loads the tracking pixel of an email. */
export async function loadPixel({ report }: ChannelTourContext, email: { html: string }): Promise<void> {
  const pixel = findInEmail(email, /<img [^>]*src="(https?:[^"]+\/o\/[^"]+\.gif)"/, 'pixel');
  const response = await fetch(pixel, { headers: READER });
  const bytes = (await response.arrayBuffer()).byteLength;
  report.line(`GET ${pixel}: ${response.status} ${response.headers.get('content-type')}, ${bytes} bytes`);
}

async function closeClickLoop(tour: ChannelTourContext): Promise<string> {
  const email = await sendTourEmail(tour, 'clicks');
  await followLink(tour, email);
  return showRecord(tour, email, { status: 'CLICKED', event: 'email.click', subscribed: true });
}

/**
 * Follows the first tracked link of an email.
 * @throws Error if the link does not redirect to the URL that the template contains
 */
export async function followLink({ report }: ChannelTourContext, email: { html: string }): Promise<void> {
  const link = findInEmail(email, /href="(https?:[^"]+\/c\/[^"]+)"/, 'tracked link');
  const response = await fetch(link, { headers: READER, redirect: 'manual' });
  const location = response.headers.get('location');
  report.line(`GET ${link}: ${response.status} to ${location}`);
  assertRecord({ location: 'https://example.com/offer' }, { location });
}

async function closeUnsubscribeLoop(tour: ChannelTourContext): Promise<string> {
  const email = await sendTourEmail(tour, 'leaves');
  const link = /<(https?:[^>]+)>/.exec(email.header('list-unsubscribe'))?.[1];
  if (!link) throw new Error('the email has no List-Unsubscribe');
  const body = email.header('list-unsubscribe-post');
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const { status } = await fetch(link, { method: 'POST', headers, body });
  tour.report.line(`POST ${link} with ${body}: ${status}`);
  return showRecord(tour, email, {
    status: 'SENT',
    event: 'contact.unsubscribed',
    subscribed: false,
    suppressed: 'unsubscribe',
  });
}

async function closeReplyLoop(tour: ChannelTourContext): Promise<string> {
  const { report, client, from, inboundPort } = tour;
  const email = await sendTourEmail(tour, 'answers');
  const server = createTransport({ host: '127.0.0.1', port: inboundPort, ignoreTLS: true });
  const inReplyTo = email.header('message-id');
  const subject = `Re: ${email.header('subject')}`;
  const { response } = await server.sendMail({ from: email.to, to: from, subject, inReplyTo, text: 'Yes, please.' });
  report.line(
    `sent a reply by SMTP to 127.0.0.1:${inboundPort} with RCPT TO ${from}. The service responded: ${response}`,
  );
  const find = async () => {
    const { data } = await client.call('GET', `/events/contact/${email.contactId}`);
    return data.find((event: { name: string }) => event.name === 'email.received');
  };
  const received = await waitFor('email.received', find, RECORD_TIMEOUT_MS);
  const record = { emailId: received.data.emailId, contactId: email.contactId };
  return showRecord(tour, record, { status: 'RECEIVED', event: 'email.received', subscribed: true });
}

async function closeRelayLoop(tour: ChannelTourContext): Promise<string> {
  const { report, client, from, toDomain, mailbox, relayPort, secretKey } = tour;
  const auth = { user: 'apikey', pass: secretKey };
  const relay = createTransport({ host: '127.0.0.1', port: relayPort, auth, tls: { rejectUnauthorized: false } });
  const to = `relayed@${toDomain}`;
  const { response } = await relay.sendMail({ from, to, subject: 'By SMTP', text: 'Sent by a program.' });
  report.line(
    `sent an email by SMTP to 127.0.0.1:${relayPort}, AUTH with a secret key. The service responded: ${response}`,
  );
  const emailId = /Accepted as (\S+)/.exec(response)?.[1] ?? '';
  const email = await waitFor(`the email to ${to}`, () => mailbox.find(to));
  report.line(`arrived as "${email.header('subject')}" with ${email.header('message-id')}`);
  const { contactId } = (await client.call('GET', `/v1/emails/${emailId}`)).data;
  return showRecord(tour, { emailId, contactId }, { status: 'SENT', event: 'email.sent', subscribed: false });
}

function findInEmail({ html }: { html: string }, pattern: RegExp, what: string): string {
  const found = pattern.exec(html)?.[1];
  if (!found) throw new Error(`the email has no ${what}: is the project's tracking ENABLED?`);
  return found.replaceAll('&amp;', '&');
}
