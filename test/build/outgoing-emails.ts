import nodemailer from 'nodemailer';
import { enqueue } from '../../db/outbox/outbox.ts';
import { queueOwnerNotice } from '../../db/projects/owner-notices.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { TestService } from '../support/service.ts';
import { createCampaignBody } from './campaigns.ts';
import { buildContact, buildEmail } from './emails.ts';
import { buildWorkflow, expectOk } from './workflows.ts';

export const SENDER = 'shop.example';
/** The domain as registered, and as written in email. */
export const IDN_SENDER = ['bücher.example', 'xn--bcher-kva.example'] as const;

/**
 * Lines that a careless encoder or SMTP client breaks: dots, From, spaces at the end, tabs, an equals sign, too long,
 * not ASCII.
 */
export const HARD_LINES = [
  ...['<pre>', '.', '..two', '.three', 'From here on', 'a = b=3D 100 %', 'spaces at the end   ', '\ttab\t', ''],
  ...['x'.repeat(1_200), 'Grüße aus Köln, 日本語 🎉'.repeat(30), '</pre>'],
].join('\n');
const EVERY_BYTE = Buffer.from(Array.from({ length: 1_024 }, (_, i) => i % 256));

interface Expected {
  from: { name: string; address: string };
  to: { name: string; address: string };
  replyTo?: string;
  subject: string;
  /** Text that both parts contain; in the HTML part it is escaped. */
  words: string;
  hardLines?: true;
  headers?: Record<string, string>;
  files?: { filename: string; type: string; disposition: string; contentId: string | null; content: Buffer }[];
  /** True if the email has the headers of one-click unsubscribe (RFC 8058). */
  unsubscribe?: true;
  /** Defects that Python reports in every address outside ASCII, though RFC 6532 permits them. */
  defects?: string[];
}

/** A running service and the port of its SMTP relay. */
interface EmailSource {
  service: TestService;
  relayPort: number;
}

/** An email, how it is sent, and the content that its recipient must get. */
interface Outgoing extends Expected {
  way: string;
  send(from: EmailSource): Promise<unknown>;
}

/**
 * A name that fits into one encoded word: Python adds a space between two of them in a name (gh-128110, fixed in
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

/** Emails that are sent in every way that the service has. Their content breaks careless encoders. */
export const OUTGOING_EMAILS: Outgoing[] = [
  {
    way: 'by /v1/send',
    from: SHOP,
    to: { name: '山田 "Taro" 太郎', address: 'taro@to.test' },
    replyTo: `answers@${SENDER}`,
    subject: `Grüße 🎉 an Jörg & Söhne, ${'weil der Betreff lang ist und gefaltet werden muß, '.repeat(5)}Ende`,
    words: 'Hallo Jörg & Söhne, schön!',
    hardLines: true,
    headers: { 'x-order': '4711', 'x-long': 'wörd '.repeat(80).trim() },
    send: ({ service }) =>
      post(service, '/v1/send', {
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
    send: ({ service }) =>
      post(service, '/v1/send', {
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
    async send({ service }) {
      const template = await post(service, '/templates', {
        name: 'Order',
        type: 'TRANSACTIONAL',
        subject: 'Ihre Bestellung {{orderNo}} – danke',
        body: `<p>Danke, {{name}}!</p><img src="cid:logo@here">${HARD_LINES}`,
        from: SHOP.address,
        fromName: SHOP.name,
        replyTo: `reply@${SENDER}`,
      });
      await post(service, '/v1/send', {
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
    send: ({ service }) =>
      post(service, '/v1/send', {
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
    send: ({ service }) => buildQueuedEmail(service, { to: 'jörg.山田@bücher.test' }),
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
    async send({ service }) {
      // The API accepts only ASCII addresses in this field.
      for (const email of ['reader@to.test', 'jürgen@bücher.test'])
        await buildContact(service.db, {
          projectId: service.one.id,
          email,
          data: { firstName: 'Zoë & Co', list: 'news' },
        });
      await post(service, `/campaigns/${await createCampaign(service)}/send`, {});
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
    send: async () => {}, // The previous email of this list goes to both recipients.
  },
  {
    way: "by a campaign's test",
    from: SHOP,
    to: { name: '', address: 'me@to.test' },
    replyTo: `news@${SENDER}`,
    subject: '[TEST] Neues für  – 日本語',
    words: 'Hallo',
    hardLines: true,
    send: async ({ service }) =>
      post(service, `/campaigns/${await createCampaign(service)}/test`, { email: 'me@to.test' }),
  },
  {
    way: 'by a workflow',
    from: SHOP,
    to: { name: '', address: 'step@to.test' },
    replyTo: `reply@${SENDER}`,
    subject: 'Willkommen, Jürgen',
    words: 'Schön, Jürgen!',
    unsubscribe: true,
    async send({ service }) {
      const { id: templateId } = await post(service, '/templates', {
        name: 'Welcome',
        type: 'MARKETING',
        subject: 'Willkommen, {{name}}',
        body: '<p>Schön, {{name}}!</p>',
        from: SHOP.address,
        fromName: SHOP.name,
        replyTo: `reply@${SENDER}`,
      });
      await buildWorkflow(service, { steps: { mail: { type: 'SEND_EMAIL', config: { templateId } } } });
      await post(service, '/v1/track', { email: 'step@to.test', event: 'signup', data: { name: 'Jürgen' } });
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
    // The client encodes the name in Content-Type by RFC 2047, and the relay does not change it.
    defects: ['Content-Type: InvalidHeaderDefect', 'Content-Type: InvalidHeaderDefect'],
    files: [{ filename: 'ä.bin', type: 'image/png', disposition: 'inline', contentId: '<a@b>', content: EVERY_BYTE }],
    send: ({ service, relayPort }) =>
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
    send: ({ service }) =>
      inTransaction(service.db, (trx) =>
        queueOwnerNotice(trx, { projectId: service.one.id, subject: 'Ihr Projekt', body: '<p>Bitte lesen</p>' }),
      ),
  },
];

async function createCampaign(service: TestService): Promise<string> {
  const { data } = await post(
    service,
    '/campaigns',
    createCampaignBody({
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

/** Builds an email that the API would refuse, with its outbox row, as if it had been accepted. */
async function buildQueuedEmail(service: TestService, p: { to: string }): Promise<void> {
  const projectId = service.one.id;
  const refId = await buildEmail(service.db, { projectId, from: SHOP.address, ...p });
  await inTransaction(service.db, (trx) => enqueue(trx, [{ projectId, kind: 'email.deliver', refId }]));
}

async function post(service: TestService, path: string, body: unknown) {
  return expectOk(service.call('POST', path, { body }));
}
