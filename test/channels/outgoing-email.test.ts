import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort } from '../../cli/start/ports.ts';
import { HARD_LINES, IDN_SENDER, OUTGOING_EMAILS, SENDER } from '../build/outgoing-emails.ts';
import { expectOk } from '../build/workflows.ts';
import { type DnsServer, startDnsServer, type Zone } from '../support/dns-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { checkAuthentication, type MessageVerdict } from '../support/smtp/email-verdict.ts';
import { type ParsedMessage, parseMessages } from '../support/smtp/read-mail.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { until } from '../support/until.ts';

/** Host that SPF names; the sink receives the email from loopback. */
const MAIL_HOST = 'mail.tidings.example';

let dns: DnsServer;
let sink: SmtpSink;
let service: TestService;
let read: Map<string, ParsedMessage>;
let startedAt: number;

beforeAll(async () => {
  startedAt = Date.now();
  dns = await startDnsServer({ [MAIL_HOST]: { A: ['127.0.0.1'] } });
  sink = await startSmtpSink({ keepBodies: true });
  const relayPort = await findFreePort();
  service = await startTestService({
    EMAIL_PROVIDER: 'smtp',
    SMTP_URL: sink.url,
    SMTP_RELAY_PORT: String(relayPort),
    DNS_SERVERS: dns.address,
    PUBLIC_URL: `https://${MAIL_HOST}`,
  });
  for (const domain of [SENDER, IDN_SENDER[0]]) await publishDomain(domain);
  await buildOwner('owner@to.test');
  await Promise.all(OUTGOING_EMAILS.map((mail) => mail.send({ service, relayPort })));
  await until(
    async () => OUTGOING_EMAILS.every(({ to }) => findIndex(to.address) >= 0),
    `emails to ${OUTGOING_EMAILS.length} recipients`,
  );
  const raws = await parseMessages(OUTGOING_EMAILS.map(({ to }) => findArrived(to.address).raw));
  read = new Map(raws.map((mail, i) => [OUTGOING_EMAILS[i]?.way ?? '', mail]));
});
afterAll(async () => {
  await service?.close();
  await sink?.close();
  await dns?.close();
});

describe.each(OUTGOING_EMAILS)('an email $way', (mail) => {
  it('passes SPF for the domain of its return path, and DKIM and DMARC for the domain of its From', async () => {
    const domain = mail.from.address.replace(/.*@/, '');
    expect(await checkAuthentication(dns.address, findArrived(mail.to.address))).toEqual({
      spf: { result: 'pass', domain: `bounces.${domain}` },
      dkim: [{ result: 'pass', domain }],
      dmarc: { result: 'pass', policy: 'reject', aligned: { spf: `bounces.${domain}`, dkim: domain } },
    } satisfies MessageVerdict);
  });

  it("is read by Python's email package with the same content", () => {
    const found = getEmailSentBy(mail.way);
    expect(found.defects).toEqual(mail.defects ?? []);
    expect(found.longestLine).toBeLessThanOrEqual(998);
    const names = found.headers.map(([name]) => name);
    expect(names).toEqual([...new Set(names)]); // The names of headers are unique.
    expect(found).toMatchObject({ from: [mail.from], to: [mail.to] });
    expect(found.replyTo.map(({ address }) => address)).toEqual(mail.replyTo ? [mail.replyTo] : []);
    const headers = Object.fromEntries(found.headers);
    expect(headers).toMatchObject({ subject: mail.subject, 'mime-version': '1.0', ...mail.headers });
    expect(headers['message-id']).toMatch(/^<[0-9a-f-]{36}@[a-z0-9.-]+>$/);
    const writtenAt = Date.parse(headers.date ?? '');
    expect(writtenAt).toBeGreaterThanOrEqual(startedAt - 1_000); // The Date header has whole seconds.
    expect(writtenAt).toBeLessThanOrEqual(Date.now());
    expect(headers['list-unsubscribe-post']).toBe(mail.unsubscribe && 'List-Unsubscribe=One-Click');
    expect(headers['list-unsubscribe'] !== undefined).toBe(mail.unsubscribe === true);
    const [text, html] = ['text/plain', 'text/html'].map((type) => getText(found, type));
    expect(text).toContain(mail.words);
    expect(html?.replace(/<[^>]+>/g, '')).toContain(mail.words.replace('&', '&amp;'));
    if (mail.hardLines) expect(html).toContain(HARD_LINES);
    const files = found.parts.filter(({ filename }) => filename !== null).map(({ text: _, ...file }) => file);
    expect(files).toHaveLength(mail.files?.length ?? 0);
    expect(files).toEqual(expect.arrayContaining(mail.files ?? []));
  });
});

describe('the checks of this test', () => {
  const findEmail = () => findArrived('taro@to.test');

  it('find an SPF softfail for email from another address', async () => {
    const verdict = await checkAuthentication(dns.address, { ...findEmail(), ip: '192.0.2.1' });
    expect(verdict.spf.result).toBe('softfail');
    expect(verdict.dmarc).toMatchObject({ result: 'pass', aligned: { spf: undefined, dkim: SENDER } });
  });

  it('find that DMARC fails for email that was changed in transit and comes from another address', async () => {
    const raw = findEmail().raw.replace('Hallo', 'Hullo');
    const verdict = await checkAuthentication(dns.address, { ...findEmail(), ip: '192.0.2.1', raw });
    expect(verdict).toMatchObject({ dkim: [{ result: 'neutral' }], dmarc: { result: 'fail', policy: 'reject' } });
  });

  it('use SPF alone if the signature is missing', async () => {
    const raw = findEmail().raw.replace(/^DKIM-Signature:.*\r\n( .*\r\n)*/, '');
    const verdict = await checkAuthentication(dns.address, { ...findEmail(), raw });
    expect(verdict.dmarc).toMatchObject({ result: 'pass', aligned: { spf: `bounces.${SENDER}`, dkim: undefined } });
  });
});

function findIndex(to: string): number {
  return sink.messages.findIndex((message) => Buffer.from(message.to, 'latin1').toString() === to);
}

/** Returns an email as the receiving server stores it: without the dots that SMTP doubles. */
function findArrived(to: string) {
  const at = findIndex(to);
  const raw = sink.bodies[at]?.replace(/^\.|(?<=\r\n)\.(?=\.)/g, '');
  const helo = sink.commands.find((line) => line.startsWith('EHLO '))?.slice('EHLO '.length);
  return { from: sink.messages[at]?.from ?? '', raw: raw ?? '', ip: '127.0.0.1', helo: helo ?? '' };
}

function getEmailSentBy(way: string): ParsedMessage {
  const found = read.get(way);
  if (!found) throw new Error(`no mail ${way}`);
  return found;
}

function getText({ parts }: ParsedMessage, type: string): string | null | undefined {
  return parts.find((part) => part.type === type && part.filename === null)?.text;
}

async function post(path: string, body: unknown) {
  return expectOk(service.call('POST', path, { body }));
}

/** Registers a domain, publishes the records of the response, and verifies the domain. */
async function publishDomain(domain: string): Promise<void> {
  const { id, records } = await post('/domains', { domain });
  for (const { name, type, value } of records) {
    const zone = (dns.zones.get(name) ?? {}) as Zone;
    dns.zones.set(name, { ...zone, [type]: [...(zone[type as keyof Zone] ?? []), value] });
  }
  expect((await expectOk(service.call('GET', `/domains/${id}/verify`))).verified).toBe(true);
  // The DKIM domain must equal the From domain (`adkim=s`), which is stricter than the service asks users to publish.
  const policy = records.find(({ purpose }: { purpose: string }) => purpose === 'DMARC').name;
  dns.zones.set(policy, { TXT: ['v=DMARC1; p=reject; adkim=s'] });
}

async function buildOwner(email: string): Promise<void> {
  const { id } = await service.db
    .insertInto('users')
    .values({ email, password_hash: '-' })
    .returning('id')
    .executeTakeFirstOrThrow();
  await service.db
    .insertInto('memberships')
    .values({ project_id: service.one.id, user_id: id, role: 'OWNER' })
    .execute();
}
