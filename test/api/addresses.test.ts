import { connect } from 'node:net';
import fc from 'fast-check';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort } from '../../cli/start/ports.ts';
import { isEmailAddress, normalizeEmail } from '../../rules/emails/email-address.ts';
import { buildDomain } from '../build/senders.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { until } from '../support/until.ts';

let service: TestService;
let sink: SmtpSink;
let relayPort: number;
let inboundPort: number;
/** A contact that changes its address, and a segment that gets members. */
let contactId: string;
let segmentId: string;
/** Path of the steps of a workflow. */
let stepsPath: string;

beforeAll(async () => {
  sink = await startSmtpSink({ keepBodies: true });
  relayPort = await findFreePort();
  inboundPort = await findFreePort();
  service = await startTestService({
    EMAIL_PROVIDER: 'smtp',
    SMTP_URL: sink.url,
    SMTP_RELAY_PORT: String(relayPort),
    INBOUND_SMTP_PORT: String(inboundPort),
  });
  await buildDomain(service.db, { projectId: service.one.id, domain: 'sender.test', signing: false });
  await buildDomain(service.db, { projectId: service.one.id, domain: 'xn--80ak6aa92e.xn--p1ai', signing: false });
  contactId = (await service.call('POST', '/contacts', { body: { email: 'first@example.com' } })).body.id;
  const { body: workflow } = await service.call('POST', '/workflows', { body: { name: 'Notices', eventName: 'seen' } });
  stepsPath = `/workflows/${workflow.id}/steps`;
  segmentId = (await service.call('POST', '/segments', { body: { name: 'Guests', type: 'STATIC' } })).body.id;
});
afterAll(async () => {
  await service?.close();
  await sink?.close();
});

const ATOM = fc.stringMatching(/^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,12}$/);
const DOT_ATOM = fc.array(ATOM, { minLength: 1, maxLength: 3 }).map((atoms) => atoms.join('.'));
const QUOTED = fc.stringMatching(/^[ -!#-[\]-~]{0,20}$/).map((text) => `"${text}"`);
const ESCAPED = fc.stringMatching(/^[ -~]{1,10}$/).map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`);
const LABEL = fc.oneof(
  fc.stringMatching(/^[a-z0-9](?:[a-z0-9]{0,10}[a-z0-9])?$/),
  fc.constantFrom('münchen', 'пример', '例え', 'ex-ample', 'xn--mnchen-3ya', 'STRASSE', 'straße'),
);
const TOP = fc.constantFrom('example', 'com', 'xn--p1ai', 'рф', 'jp');
const DOMAIN = fc
  .array(LABEL, { minLength: 1, maxLength: 3 })
  .chain((labels) => TOP.map((top) => [...labels, top].join('.')));
const VALID = fc.tuple(fc.oneof(DOT_ATOM, QUOTED, ESCAPED), DOMAIN).map(([local, domain]) => `${local}@${domain}`);
const INVALID = fc.oneof(
  fc.tuple(DOT_ATOM, DOT_ATOM, DOMAIN).map(([a, b, domain]) => `${a}..${b}@${domain}`),
  fc.tuple(DOT_ATOM, DOMAIN).map(([a, domain]) => `.${a}@${domain}`),
  fc.tuple(ATOM, ATOM, DOMAIN).map(([a, b, domain]) => `${a} ${b}@${domain}`),
  fc
    .tuple(DOT_ATOM, fc.constantFrom('localhost', '[192.0.2.1]', 'a_b.example', '1.2.3.4', '-a.example'))
    .map(([a, d]) => `${a}@${d}`),
  fc.tuple(fc.constantFrom('ädä', '用户', 'ivan.пример'), DOMAIN).map(([a, domain]) => `${a}@${domain}`),
  fc.tuple(fc.stringMatching(/^[a-z]{65,70}$/), DOMAIN).map(([a, domain]) => `${a}@${domain}`),
);
const MAIL = { to: 'ada@example.com', from: 'hello@sender.test', subject: 'Hi', body: '<p>Hi</p>' };
const TEXT = { name: 'T', from: MAIL.from, subject: MAIL.subject, body: MAIL.body };
const createNoticeStep = (customEmail: string) => ({
  type: 'SEND_EMAIL',
  name: 'Notice',
  config: { recipient: { type: 'CUSTOM', customEmail } },
});
const SAMPLE = { numRuns: 40, seed: 20261126 };
const addresses = [...fc.sample(VALID, SAMPLE), ...fc.sample(INVALID, SAMPLE)];
const normalized = addresses.map((address) => (isEmailAddress(address) ? normalizeEmail(address) : null));

/** Returns the address under which a request created or found a contact; null if it refused the address. */
async function readStoredAddress(
  path: string,
  body: object,
  emailOf: (response: never) => string,
): Promise<string | null> {
  const { status, body: response } = await service.call('POST', path, { body });
  if (status === 422 || (path === '/v1/verify' && status === 400)) return null;
  expect(status, `${path} ${JSON.stringify(body)} ${JSON.stringify(response)}`).toBeLessThan(300);
  return emailOf(response as never);
}

async function readStoredAddresses(ask: (address: string) => Promise<string | null>): Promise<(string | null)[]> {
  const found: (string | null)[] = [];
  for (const address of addresses) found.push(await ask(address));
  return found;
}

/** Sends lines one after the other on one connection. Returns the replies. */
async function runSmtpSession(port: number, lines: string[]): Promise<string[]> {
  const socket = connect(port, '127.0.0.1');
  const replies: string[] = [];
  let text = '';
  for await (const chunk of socket) {
    text += String(chunk);
    if (!/^\d{3} .*\r\n$/m.test(text)) continue;
    replies.push(text);
    text = '';
    const line = lines[replies.length - 1];
    if (line === undefined) break;
    socket.write(`${line}\r\n`);
  }
  socket.destroy();
  return replies.slice(1);
}

describe('every entry point accepts and refuses the same addresses', () => {
  it('the sample contains valid and invalid addresses', () => {
    expect(normalized.slice(0, SAMPLE.numRuns).filter((email) => email === null)).toEqual([]);
    expect(normalized.slice(SAMPLE.numRuns).filter((email) => email !== null)).toEqual([]);
  });

  it('POST /contacts', async () => {
    const ask = (email: string) =>
      readStoredAddress('/contacts', { email }, (response: { email: string }) => response.email);
    expect(await readStoredAddresses(ask)).toEqual(normalized);
  });

  it('POST /v1/send, in `to` and with a display name', async () => {
    const mail = { from: 'hello@sender.test', subject: 'Hi', body: '<p>Hi</p>' };
    type Sent = { data: { emails: { contact: { email: string } }[] } };
    const emailOf = ({ data }: Sent) => data.emails[0]?.contact.email ?? '';
    const ask = (to: unknown) => readStoredAddress('/v1/send', { ...mail, to }, emailOf as never);
    expect(await readStoredAddresses(ask)).toEqual(normalized);
    expect(await readStoredAddresses((email) => ask(`"Ada, L." <${email}>`))).toEqual(normalized);
    expect(await readStoredAddresses((email) => ask({ name: 'Ada', email }))).toEqual(normalized);
    const sent = normalized.filter((email) => email !== null);
    const readArrived = async () => (sink.messages.length >= 3 * sent.length ? sink.messages : undefined);
    const recipients = (await until(readArrived, 'all emails to arrive')).map(({ to }) => to);
    expect(recipients.sort()).toEqual([...sent, ...sent, ...sent].sort());
  });

  it('POST /v1/verify and POST /suppressions', async () => {
    const verify = (email: string) =>
      readStoredAddress('/v1/verify', { email }, (response: { data: { email: string } }) => response.data.email);
    expect(await readStoredAddresses(verify)).toEqual(normalized);
    const suppress = (email: string) =>
      readStoredAddress('/suppressions', { email }, (response: { email: string }) => response.email);
    expect((await readStoredAddresses(suppress)).map((email) => email !== null)).toEqual(
      normalized.map((email) => email !== null),
    );
  });

  it.each<[string, (email: string) => { method?: string; path: string; body?: object; key?: string }]>([
    ['PATCH /contacts', (email) => ({ method: 'PATCH', path: `/contacts/${contactId}`, body: { email } })],
    ['POST /v1/track', (email) => ({ path: '/v1/track', body: { email, event: 'seen' } })],
    [
      'POST /v1/track with the public key',
      (email) => ({ path: '/v1/track', body: { email, event: 'seen' }, key: service.one.publicKey }),
    ],
    ['cc', (cc) => ({ path: '/v1/send', body: { ...MAIL, cc } })],
    ['bcc with a name', (email) => ({ path: '/v1/send', body: { ...MAIL, bcc: [{ name: 'Ada', email }] } })],
    ['reply', (reply) => ({ path: '/v1/send', body: { ...MAIL, reply } })],
    [
      'one of several addresses in replyTo',
      (email) => ({ path: '/v1/send', body: { ...MAIL, replyTo: ['a@example.com', email] } }),
    ],
    ['POST /v1/send/batch', (to) => ({ path: '/v1/send/batch', body: { atomic: true, emails: [{ ...MAIL, to }] } })],
    ['POST /contacts/lookup', (email) => ({ path: '/contacts/lookup', body: { emails: [email] } })],
    [
      'members of a segment',
      (email) => ({ path: `/segments/${segmentId}/members`, body: { emails: [email], createMissing: true } }),
    ],
    ['replyTo of a template', (replyTo) => ({ path: '/templates', body: { ...TEXT, type: 'MARKETING', replyTo } })],
    ['replyTo of a campaign', (replyTo) => ({ path: '/campaigns', body: { ...TEXT, audienceType: 'ALL', replyTo } })],
    ['the recipient of a step', (customEmail) => ({ path: stepsPath, body: createNoticeStep(customEmail) })],
    ['a test email', (email) => ({ path: '/templates/test', body: { ...TEXT, name: undefined, email } })],
    [
      'a file of a project as code',
      (replyTo) => ({
        path: '/project/apply',
        body: { dryRun: true, templates: [{ ...TEXT, slug: 'file', type: 'MARKETING', replyTo }] },
      }),
    ],
    ['GET /v1/emails', (email) => ({ method: 'GET', path: `/v1/emails?to=${encodeURIComponent(email)}` })],
    ['GET /suppressions', (email) => ({ method: 'GET', path: `/suppressions?email=${encodeURIComponent(email)}` })],
  ])('%s', async (_, asking) => {
    const accepted: string[] = [];
    for (const address of addresses) {
      const { method = 'POST', path, ...options } = asking(address);
      const { status, body } = await service.call(method, path, options);
      // 409 means that another contact has the address, so the address was accepted as valid.
      const isAccepted = status < 300 || status === 409;
      if (isAccepted) accepted.push(address);
      else expect([400, 422], `${path} ${address} ${JSON.stringify(body)}`).toContain(status);
    }
    expect(accepted).toEqual(addresses.filter((_, n) => normalized[n] !== null));
  });

  it('the sender of /v1/send and of a message through the SMTP relay', async () => {
    const auth = Buffer.from(`\0apikey\0${service.one.secretKey}`).toString('base64');
    const login = ['EHLO me', `AUTH PLAIN ${auth}`];
    const createSendCommands = (from: string) => [
      'MAIL FROM:<hello@sender.test>',
      'RCPT TO:<ada@example.com>',
      'DATA',
      `From: ${from}\r\nSubject: Hi\r\n\r\nHello\r\n.`,
    ];
    const locals = addresses.map((address) => address.slice(0, address.lastIndexOf('@')));
    // In a header, text before an address is read as a name: the "a" of "a b@sender.test" is a name.
    const senders = locals.filter((local) => !/^[^"]* /.test(local)).map((local) => `${local}@sender.test`);
    const isRelayed = (replies: string[]) => replies.at(-1)?.startsWith('250 ');
    for (const from of senders) {
      const sent = await service.call('POST', '/v1/send', { body: { ...MAIL, from } });
      const relayed = isRelayed(await runSmtpSession(relayPort, [...login, ...createSendCommands(from)]));
      expect([sent.status === 200, relayed], from).toEqual([isEmailAddress(from), isEmailAddress(from)]);
    }
  });

  it('the address column of a CSV import', async () => {
    const quoteCell = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const form = new FormData();
    form.append('file', new Blob([`email\r\n${addresses.map(quoteCell).join('\r\n')}\r\n`]), 'contacts.csv');
    const response = await fetch(`${service.baseUrl}/contacts/import/preview`, {
      method: 'POST',
      body: form,
      headers: { authorization: `Bearer ${service.one.secretKey}` },
    });
    const { result } = (await response.json()) as { result: { successCount: number; errors: { row: number }[] } };
    expect(result.successCount).toBe(normalized.filter((email) => email !== null).length);
  });

  it('RCPT of the SMTP relay', async () => {
    const auth = Buffer.from(`\0apikey\0${service.one.secretKey}`).toString('base64');
    const lines = ['EHLO me', `AUTH PLAIN ${auth}`, 'MAIL FROM:<hello@sender.test>'];
    const replies = await runSmtpSession(relayPort, [...lines, ...addresses.map((address) => `RCPT TO:<${address}>`)]);
    const verdict = replies.slice(lines.length).map((reply) => reply.slice(0, 3));
    expect(verdict).toEqual(normalized.map((email) => (email === null ? '553' : '250')));
  });
});

describe('email with unusual addresses', () => {
  it('reaches a quoted local part through the SMTP relay, and is sent from one', async () => {
    sink.reset();
    const relay = createTransport({
      host: '127.0.0.1',
      port: relayPort,
      auth: { user: 'apikey', pass: service.one.secretKey },
      tls: { rejectUnauthorized: false },
    });
    await relay.sendMail({
      envelope: { from: 'hello@sender.test', to: ['"aaa..bbb"@example.jp'] },
      raw: 'From: hello@sender.test\r\nTo: "aaa..bbb"@example.jp\r\nSubject: Hi\r\n\r\nHello\r\n',
    });
    const [body] = await until(async () => (sink.bodies.length > 0 ? sink.bodies : undefined), 'the email');
    expect(body).toMatch(/^To: <?"aaa\.\.bbb"@example\.jp>?\r?$/m);
  });

  it('is sent from a domain under an internationalized top-level domain, in Unicode and in ASCII form', async () => {
    for (const from of ['Иван <ivan@аррӏе.рф>', 'ivan@xn--80ak6aa92e.xn--p1ai']) {
      const body = { to: 'ada@example.com', from, subject: 'Hi', body: '<p>Hi</p>' };
      const { status, body: response } = await service.call('POST', '/v1/send', { body });
      expect(status, JSON.stringify(response)).toBe(200);
    }
  });

  it('keeps the name of `from` in templates and campaigns as `fromName`', async () => {
    const text = { name: 'T', subject: 'Hi', body: '<p>Hi</p>', from: '"Shop, Inc." <Shop@Sender.test>' };
    const template = await service.call('POST', '/templates', { body: { ...text, type: 'MARKETING' } });
    expect(template.body).toMatchObject({ from: 'shop@sender.test', fromName: 'Shop, Inc.' });
    const campaign = await service.call('POST', '/campaigns', { body: { ...text, audienceType: 'ALL' } });
    const { body: stored } = await service.call('GET', `/campaigns/${campaign.body.data.id}`);
    expect(stored).toMatchObject({ from: 'shop@sender.test', fromName: 'Shop, Inc.' });
  });

  it('email from a UTF-8 local part is recorded on arrival, and email that names no sender is refused', async () => {
    const createSessionLines = (from: string) => [
      'EHLO me',
      'MAIL FROM:<>',
      'RCPT TO:<info@sender.test>',
      'DATA',
      `From: ${from}\r\nSubject: Hi\r\n\r\nHello\r\n.`,
    ];
    const [taken, refused] = [
      await runSmtpSession(inboundPort, createSessionLines('用户 <用户@例え.jp>')),
      await runSmtpSession(inboundPort, createSessionLines('nobody')),
    ];
    expect(taken.at(-1)).toMatch(/^250 /);
    expect(refused.at(-1)).toMatch(/^5\d\d .*no sender/);
    const { body } = await service.call('GET', `/contacts?search=${encodeURIComponent('用户@xn--r8jz45g.jp')}`);
    expect(body.data).toHaveLength(1);
  });
});
