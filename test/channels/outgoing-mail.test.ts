import nodemailer from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../cli/start/ports.ts';
import { enqueue } from '../../db/outbox/outbox.ts';
import { queueOwnerNotice } from '../../db/projects/owner-notices.ts';
import { inTransaction } from '../../db/transaction.ts';
import { campaignBody } from '../build/campaigns.ts';
import { buildContact, buildEmail } from '../build/emails.ts';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import { type DnsServer, startDnsServer, type Zone } from '../support/dns-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type MailVerdict, verdictOf } from '../support/smtp/mail-verdict.ts';
import { type ReadMail, readMails } from '../support/smtp/read-mail.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { until } from '../support/until.ts';

/** Where SPF says that mail comes from; the sink sees it come from loopback. */
const MAIL_HOST = 'mail.tidings.example';
const SENDER = 'shop.example';
/** As it is registered, and as it is written in mail. */
const IDN_SENDER = ['bücher.example', 'xn--bcher-kva.example'] as const;

/**
 * Lines that a careless encoder or SMTP client breaks: dots, From, spaces at the end, tabs, an equals sign, too long,
 * not ASCII.
 */
const HARD_LINES = [
  ...['<pre>', '.', '..two', '.three', 'From here on', 'a = b=3D 100 %', 'spaces at the end   ', '\ttab\t', ''],
  ...['x'.repeat(1_200), 'Grüße aus Köln, 日本語 🎉'.repeat(30), '</pre>'],
].join('\n');
const EVERY_BYTE = Buffer.from(Array.from({ length: 1_024 }, (_, i) => i % 256));

interface Expected {
  from: { name: string; address: string };
  to: { name: string; address: string };
  replyTo?: string;
  subject: string;
  /** Both parts hold it; the HTML in its escaped form. */
  words: string;
  hardLines?: true;
  headers?: Record<string, string>;
  files?: { filename: string; type: string; disposition: string; contentId: string | null; content: Buffer }[];
  /** Carries RFC 8058's headers. */
  unsubscribe?: true;
  /** What Python finds wrong in every address outside ASCII, though RFC 6532 allows them. */
  defects?: ['To: NonASCIILocalPartDefect'];
}

/** A mail by one of the ways in which they leave, and what its recipient has to find in it. */
interface Outgoing extends Expected {
  way: string;
  send(): Promise<unknown>;
}

/**
 * A name that fits into one encoded word: between two of them in a name Python puts a space (gh-128110, mended in
 * 3.13.2).
 */
const SHOP = { name: 'Söhne & Co, "Ltd."', address: `hello@${SENDER}` };
const FILES = [
  { filename: 'Rechnung Ü 2026.pdf', contentType: 'application/pdf', content: EVERY_BYTE },
  { filename: `${'長い名前'.repeat(20)}.bin`, contentType: 'application/octet-stream', content: Buffer.from([0]) },
  { filename: 'dots.txt', contentType: 'text/plain', content: Buffer.from('.\n..\r\nFrom me\rä, no end') },
  {
    filename: 'before.eml',
    contentType: 'message/rfc822',
    content: Buffer.from('From: a@b.example\r\nSubject: before\r\n\r\n.Hello\r\n'),
  },
];
const LOGO = { filename: 'logo.png', contentType: 'image/png', content: EVERY_BYTE, contentId: 'logo@here' };

const MAILS: Outgoing[] = [
  {
    way: 'by /v1/send',
    from: SHOP,
    to: { name: '山田 "Taro" 太郎', address: 'taro@to.test' },
    replyTo: `answers@${SENDER}`,
    subject: `Grüße 🎉 an Jörg & Söhne, ${'weil der Betreff lang ist und gefaltet werden muß, '.repeat(5)}Ende`,
    words: 'Hallo Jörg & Söhne, schön!',
    hardLines: true,
    headers: { 'x-order': '4711', 'x-long': 'wörd '.repeat(80).trim() },
    send: () =>
      post('/v1/send', {
        to: { name: '山田 "Taro" 太郎', email: 'taro@to.test' },
        from: { name: SHOP.name, email: SHOP.address },
        reply: `answers@${SENDER}`,
        subject: `Grüße 🎉 an {{name}}, ${'weil der Betreff lang ist und gefaltet werden muß, '.repeat(5)}Ende`,
        body: `<p>Hallo {{name}}, <a href="https://shop.example/?a=1&amp;b=2">schön!</a></p>${HARD_LINES}`,
        data: { name: { value: 'Jörg & Söhne', persistent: false } },
        headers: { 'X-Order': '4711', 'X-Long': 'wörd '.repeat(80).trim() },
      }),
  },
  {
    way: 'by /v1/send, with content whose text part is made from each finished HTML',
    from: { name: '', address: SHOP.address },
    to: { name: '', address: 'loops@to.test' },
    subject: 'Your list',
    words: 'one two three',
    unsubscribe: true,
    send: () =>
      post('/v1/send', {
        to: 'loops@to.test',
        from: SHOP.address,
        subject: 'Your list',
        body: '{% for word in words %}{% if word %}<b>{% endif %}{{word}}</b> {% endfor %}<a href="{{unsubscribeUrl}}">x</a>',
        data: { words: { value: ['one', 'two', 'three'], persistent: false } },
      }),
  },
  {
    way: 'by a template, with files and an inline image',
    from: SHOP,
    to: { name: 'Ada', address: 'ada@to.test' },
    replyTo: `reply@${SENDER}`,
    subject: 'Ihre Bestellung 4711 – danke',
    words: 'Danke, Ada & Zoë!',
    hardLines: true,
    headers: { 'x-order': '4711' },
    files: [
      ...FILES.map(({ contentType: type, ...file }) => ({ ...file, type, disposition: 'attachment', contentId: null })),
      { filename: 'logo.png', type: 'image/png', disposition: 'inline', contentId: '<logo@here>', content: EVERY_BYTE },
    ],
    async send() {
      const template = await post('/templates', {
        name: 'Order',
        type: 'TRANSACTIONAL',
        subject: 'Ihre Bestellung {{orderNo}} – danke',
        body: `<p>Danke, {{name}}!</p><img src="cid:logo@here">${HARD_LINES}`,
        from: SHOP.address,
        fromName: SHOP.name,
        replyTo: `reply@${SENDER}`,
      });
      await post('/v1/send', {
        to: { name: 'Ada', email: 'ada@to.test' },
        template: template.id,
        headers: { 'X-Order': '4711' },
        data: { name: 'Ada & Zoë', orderNo: { value: 4711, persistent: false } },
        attachments: [...FILES, { ...LOGO, disposition: 'inline' }].map(({ content, ...file }) => ({
          ...file,
          content: content.toString('base64'),
        })),
      });
    },
  },
  {
    way: 'between international domains',
    from: { name: 'Bücher', address: `hallo@${IDN_SENDER[1]}` },
    to: { name: '', address: 'ada@xn--gre-6ka8i.test' },
    subject: 'Post',
    words: 'Hallo',
    send: () =>
      post('/v1/send', {
        to: 'ada@xn--gre-6ka8i.test',
        from: { name: 'Bücher', email: `hallo@${IDN_SENDER[1]}` },
        subject: 'Post',
        body: '<p>Hallo</p>',
      }),
  },
  {
    way: 'to a local part outside ASCII',
    from: { name: 'Shop', address: SHOP.address },
    to: { name: '', address: 'jörg.山田@xn--bcher-kva.test' },
    subject: 'Hello Ada',
    words: 'Hello Ada',
    defects: ['To: NonASCIILocalPartDefect'],
    send: () => queue({ to: 'jörg.山田@bücher.test' }),
  },
  {
    way: 'by a campaign',
    from: SHOP,
    to: { name: '', address: 'reader@to.test' },
    replyTo: `news@${SENDER}`,
    subject: 'Neues für Zoë & Co – 日本語',
    words: 'Hallo Zoë & Co',
    hardLines: true,
    unsubscribe: true,
    async send() {
      // Nobody gets in by the API whose address is not ASCII.
      for (const email of ['reader@to.test', 'jürgen@bücher.test'])
        await buildContact(service.db, {
          projectId: service.one.id,
          email,
          data: { firstName: 'Zoë & Co', list: 'news' },
        });
      await sendCampaign(await createCampaign());
    },
  },
  {
    way: 'by a campaign to a local part outside ASCII',
    from: SHOP,
    to: { name: '', address: 'jürgen@xn--bcher-kva.test' },
    replyTo: `news@${SENDER}`,
    subject: 'Neues für Zoë & Co – 日本語',
    words: 'Hallo Zoë & Co',
    hardLines: true,
    unsubscribe: true,
    defects: ['To: NonASCIILocalPartDefect'],
    send: async () => {}, // The one before goes to both.
  },
  {
    way: "by a campaign's test",
    from: SHOP,
    to: { name: '', address: 'me@to.test' },
    replyTo: `news@${SENDER}`,
    subject: '[TEST] Neues für  – 日本語',
    words: 'Hallo',
    hardLines: true,
    send: async () => post(`/campaigns/${await createCampaign()}/test`, { email: 'me@to.test' }),
  },
  {
    way: 'by a workflow',
    from: SHOP,
    to: { name: '', address: 'step@to.test' },
    replyTo: `reply@${SENDER}`,
    subject: 'Willkommen, Jürgen',
    words: 'Schön, Jürgen!',
    unsubscribe: true,
    async send() {
      const { id: templateId } = await post('/templates', {
        name: 'Welcome',
        type: 'MARKETING',
        subject: 'Willkommen, {{name}}',
        body: '<p>Schön, {{name}}!</p>',
        from: SHOP.address,
        fromName: SHOP.name,
        replyTo: `reply@${SENDER}`,
      });
      await buildWorkflow(service, { steps: { mail: { type: 'SEND_EMAIL', config: { templateId } } } });
      await post('/v1/track', { email: 'step@to.test', event: 'signup', data: { name: 'Jürgen' } });
    },
  },
  {
    way: 'by the SMTP relay',
    from: SHOP,
    to: { name: 'Ada Löwe', address: 'relayed@to.test' },
    replyTo: `answers@${SENDER}`,
    subject: 'Grüße {{name}}',
    words: 'Hallo {{name}}',
    hardLines: true,
    files: [{ filename: 'ä.bin', type: 'image/png', disposition: 'inline', contentId: '<a@b>', content: EVERY_BYTE }],
    send: () =>
      nodemailer
        .createTransport({ host: '127.0.0.1', port: relayPort, auth: { user: 'x', pass: service.one.secretKey } })
        .sendMail({
          from: SHOP,
          to: { name: 'Ada Löwe', address: 'relayed@to.test' },
          replyTo: `answers@${SENDER}`,
          subject: 'Grüße {{name}}',
          text: `Hallo {{name}}\n${HARD_LINES}`,
          html: `<p>Hallo {{name}}</p>${HARD_LINES}`,
          attachments: [{ filename: 'ä.bin', contentType: 'image/png', content: EVERY_BYTE, cid: 'a@b' }],
        }),
  },
  {
    way: 'from the service to the owner of a project',
    from: { name: 'Tidings', address: `notices@${SENDER}` },
    to: { name: '', address: 'owner@to.test' },
    subject: 'Ihr Projekt',
    words: 'Bitte lesen',
    send: () =>
      inTransaction(service.db, (trx) =>
        queueOwnerNotice(trx, { projectId: service.one.id, subject: 'Ihr Projekt', body: '<p>Bitte lesen</p>' }),
      ),
  },
];

let dns: DnsServer;
let sink: SmtpSink;
let service: TestService;
let relayPort: number;
let read: Map<string, ReadMail>;
let startedAt: number;

beforeAll(async () => {
  startedAt = Date.now();
  dns = await startDnsServer({ [MAIL_HOST]: { A: ['127.0.0.1'] } });
  sink = await startSmtpSink({ keepBodies: true });
  relayPort = await freePort();
  service = await startTestService({
    EMAIL_PROVIDER: 'smtp',
    SMTP_URL: sink.url,
    SMTP_RELAY_PORT: String(relayPort),
    DNS_SERVERS: dns.address,
    PUBLIC_URL: `https://${MAIL_HOST}`,
  });
  for (const domain of [SENDER, IDN_SENDER[0]]) await publishDomain(domain);
  await buildOwner('owner@to.test');
  await Promise.all(MAILS.map(({ send }) => send()));
  await until(async () => MAILS.every(({ to }) => indexOf(to.address) >= 0), `mails to ${MAILS.length} recipients`);
  const raws = await readMails(MAILS.map(({ to }) => arrived(to.address).raw));
  read = new Map(raws.map((mail, i) => [MAILS[i]?.way ?? '', mail]));
});
afterAll(async () => {
  await service?.close();
  await sink?.close();
  await dns?.close();
});

describe.each(MAILS)('a mail $way', (mail) => {
  it('passes SPF, DKIM and a DMARC policy that asks for both to be of the very domain of its From', async () => {
    const domain = mail.from.address.replace(/.*@/, '');
    expect(await verdictOf(dns.address, arrived(mail.to.address))).toEqual({
      spf: { result: 'pass', domain },
      dkim: [{ result: 'pass', domain }],
      dmarc: { result: 'pass', policy: 'reject', aligned: { spf: domain, dkim: domain } },
    } satisfies MailVerdict);
  });

  it("is read by Python's email package as it was written", () => {
    const found = readOf(mail.way);
    expect(found.defects).toEqual(mail.defects ?? []);
    expect(found.longestLine).toBeLessThanOrEqual(998);
    const names = found.headers.map(([name]) => name);
    expect(names).toEqual([...new Set(names)]); // None twice.
    expect(found).toMatchObject({ from: [mail.from], to: [mail.to] });
    expect(found.replyTo.map(({ address }) => address)).toEqual(mail.replyTo ? [mail.replyTo] : []);
    const headers = Object.fromEntries(found.headers);
    expect(headers).toMatchObject({ subject: mail.subject, 'mime-version': '1.0', ...mail.headers });
    expect(headers['message-id']).toMatch(/^<[0-9a-f-]{36}@[a-z0-9.-]+>$/);
    const writtenAt = Date.parse(headers.date ?? '');
    expect(writtenAt).toBeGreaterThanOrEqual(startedAt - 1_000); // In whole seconds.
    expect(writtenAt).toBeLessThanOrEqual(Date.now());
    expect(headers['list-unsubscribe-post']).toBe(mail.unsubscribe && 'List-Unsubscribe=One-Click');
    expect(headers['list-unsubscribe'] !== undefined).toBe(mail.unsubscribe === true);
    const [text, html] = ['text/plain', 'text/html'].map((type) => textOf(found, type));
    expect(text).toContain(mail.words);
    expect(html?.replace(/<[^>]+>/g, '')).toContain(mail.words.replace('&', '&amp;'));
    if (mail.hardLines) expect(html).toContain(HARD_LINES);
    const files = found.parts.filter(({ filename }) => filename !== null).map(({ text: _, ...file }) => file);
    expect(files).toHaveLength(mail.files?.length ?? 0);
    expect(files).toEqual(expect.arrayContaining(mail.files ?? []));
  });
});

describe('the verifier', () => {
  const mail = () => arrived('taro@to.test');

  it('finds no SPF for mail from another address', async () => {
    const verdict = await verdictOf(dns.address, { ...mail(), ip: '192.0.2.1' });
    expect(verdict.spf.result).toBe('softfail');
    expect(verdict.dmarc).toMatchObject({ result: 'pass', aligned: { spf: undefined, dkim: SENDER } });
  });

  it('finds DMARC to fail for mail that was changed on the way and comes from another address', async () => {
    const raw = mail().raw.replace('Hallo', 'Hullo');
    const verdict = await verdictOf(dns.address, { ...mail(), ip: '192.0.2.1', raw });
    expect(verdict).toMatchObject({ dkim: [{ result: 'neutral' }], dmarc: { result: 'fail', policy: 'reject' } });
  });

  it('goes by SPF alone where the signature is gone', async () => {
    const raw = mail().raw.replace(/^DKIM-Signature:.*\r\n( .*\r\n)*/, '');
    const verdict = await verdictOf(dns.address, { ...mail(), raw });
    expect(verdict.dmarc).toMatchObject({ result: 'pass', aligned: { spf: SENDER, dkim: undefined } });
  });
});

function indexOf(to: string): number {
  return sink.messages.findIndex((message) => Buffer.from(message.to, 'latin1').toString() === to);
}

/** A mail as the receiving server has it: without the dots that were doubled for the way. */
function arrived(to: string) {
  const at = indexOf(to);
  const raw = sink.bodies[at]?.replace(/^\.|(?<=\r\n)\.(?=\.)/g, '');
  const helo = sink.commands.find((line) => line.startsWith('EHLO '))?.slice('EHLO '.length);
  return { from: sink.messages[at]?.from ?? '', raw: raw ?? '', ip: '127.0.0.1', helo: helo ?? '' };
}

function readOf(way: string): ReadMail {
  const found = read.get(way);
  if (!found) throw new Error(`no mail ${way}`);
  return found;
}

function textOf({ parts }: ReadMail, type: string): string | null | undefined {
  return parts.find((part) => part.type === type && part.filename === null)?.text;
}

async function post(path: string, body: unknown) {
  return expectOk(service.call('POST', path, { body }));
}

/** Registers a domain, publishes the records that the answer asks for, and lets the service find them. */
async function publishDomain(domain: string): Promise<void> {
  const { id, records } = await post('/domains', { domain });
  for (const { name, type, value } of records) {
    const zone = (dns.zones.get(name) ?? {}) as Zone;
    dns.zones.set(name, { ...zone, [type]: [...(zone[type as keyof Zone] ?? []), value] });
  }
  expect((await expectOk(service.call('GET', `/domains/${id}/verify`))).verified).toBe(true);
  // Stricter than what the service asks for: nothing but the very domain counts as aligned.
  const policy = records.find(({ purpose }: { purpose: string }) => purpose === 'DMARC').name;
  dns.zones.set(policy, { TXT: ['v=DMARC1; p=reject; adkim=s; aspf=s'] });
}

async function createCampaign(): Promise<string> {
  const { data } = await post(
    '/campaigns',
    campaignBody({
      subject: 'Neues für {{firstName}} – 日本語',
      body: `<p>Hallo {{firstName}}</p>${HARD_LINES}`,
      from: SHOP.address,
      fromName: SHOP.name,
      replyTo: `news@${SENDER}`,
      audienceType: 'FILTERED',
      audienceFilter: { operator: 'AND', conditions: [{ field: 'data.list', operator: 'equals', value: 'news' }] },
    }),
  );
  return data.id;
}

async function sendCampaign(id: string): Promise<void> {
  await post(`/campaigns/${id}/send`, {});
}

/** A mail that the API would not take, in the ledger and the outbox as if it had. */
async function queue(p: { to: string }): Promise<void> {
  const projectId = service.one.id;
  const refId = await buildEmail(service.db, { projectId, from: SHOP.address, ...p });
  await inTransaction(service.db, (trx) => enqueue(trx, [{ projectId, kind: 'email.deliver', refId }]));
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
