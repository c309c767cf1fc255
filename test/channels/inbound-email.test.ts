import { sql } from 'kysely';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createInboundHandler } from '../../api/mail/inbound-email.ts';
import { type InboundListener, startInboundListener } from '../../channels/inbound/listener.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { createLinkTokens } from '../../rules/content/link-tokens.ts';
import { createVerpAddress } from '../../rules/emails/verp.ts';
import { buildDomain, TEST_SECRET_KEY } from '../build/senders.ts';
import { buildWorkflow, listExecutions } from '../build/workflows.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Certificate, createCertificate } from '../support/certificate.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { buildSentEmail, readEmailState, type SentEmail } from '../support/email-state.ts';
import { pruneTables } from '../support/periodic.ts';
import {
  encodePart,
  encodeXtext,
  formatArf,
  formatDsn,
  formatDsnForRecipients,
} from '../support/smtp/email-reports.ts';

const verpKey = deriveKey(TEST_SECRET_KEY, 'verp');

let api: TestApi;
let dns: DnsServer;
let listener: InboundListener;
let author: Certificate;
const errors: Error[] = [];

beforeAll(async () => {
  author = await createCertificate();
  const p = (await import('node:crypto'))
    .createPublicKey(author.cert)
    .export({ type: 'spki', format: 'der' })
    .toString('base64');
  dns = await startDnsServer({
    'author.example': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
    'key._domainkey.author.example': { TXT: [`v=DKIM1; k=rsa; p=${p}`] },
    '_dmarc.author.example': { TXT: ['v=DMARC1; p=reject'] },
  });
  api = await startTestApi({ DNS_SERVERS: dns.address });
  await buildDomain(api.db, { projectId: api.one.id, domain: 'shop.example.com' });
  listener = await startInboundListener({
    host: '127.0.0.1',
    port: 0,
    name: 'mx.example.com',
    tls: undefined,
    handler: await createInboundHandler(api.deps),
    onError: (error) => errors.push(error),
  });
});
afterAll(async () => {
  await listener.close();
  await api.close();
  await dns.close();
  expect(errors).toEqual([]);
});

/** Sends a message over a real socket, as another server would. */
async function deliver(p: { from?: string; to: string | string[]; raw: string }): Promise<string> {
  const transport = createTransport({ host: '127.0.0.1', port: listener.port, ignoreTLS: true });
  const envelope = { from: p.from ?? '', to: p.to };
  return (await transport.sendMail({ envelope, raw: p.raw.replace(/\r?\n/g, '\r\n') })).response;
}

async function buildEmailWithReturnPath() {
  const email = await buildSentEmail(api);
  return { ...email, returnPath: createVerpAddress(verpKey, email.id, 'shop.example.com') };
}

const readState = (email: SentEmail) => readEmailState(api, email);

describe('delivery status notifications to a return path', () => {
  it('make the email BOUNCED and the contact unsubscribed and suppressed after a hard bounce; a repeated report changes nothing', async () => {
    const email = await buildEmailWithReturnPath();
    const raw = formatDsn({
      recipient: email.email,
      status: '5.1.1',
      diagnostic: 'smtp; 550 5.1.1 <reader@example.com>: Recipient address\n    rejected: User unknown',
    });
    for (let n = 0; n < 2; n++) expect(await deliver({ to: email.returnPath, raw })).toMatch(/^250/);
    const { mail: row, ...state } = await readState(email);
    expect(row).toMatchObject({ status: 'BOUNCED', bounce_type: 'Permanent', reason: 'bounced:dead_mailbox' });
    expect(row.error).toContain('User unknown');
    expect(state).toMatchObject({
      subscribed: false,
      entries: ['hard_bounce'],
      names: ['email.bounce', 'contact.unsubscribed'],
    });
  });

  it('are accepted for a return path in upper and lower case', async () => {
    const email = await buildEmailWithReturnPath();
    await deliver({ to: email.returnPath.toUpperCase(), raw: formatDsn({ status: '5.1.1', recipient: email.email }) });
    expect((await readState(email)).mail.status).toBe('BOUNCED');
  });

  it.each([
    ['a full mailbox', '4.2.2', 'smtp; 452 4.2.2 mailbox full', { status: 'BOUNCED', bounce_type: 'Transient' }],
    [
      'a refusal because of the sender',
      '5.7.1',
      'smtp; 550 5.7.1 rejected by spamhaus',
      { status: 'FAILED', reason: 'provider_rejected', bounce_type: null },
    ],
    [
      'a refusal because of the message',
      '5.3.4',
      'smtp; 552 5.3.4 message too big',
      { status: 'FAILED', reason: 'provider_rejected' },
    ],
  ])('reports about %s unsubscribe no contact', async (_, status, diagnostic, expected) => {
    const mail = await buildEmailWithReturnPath();
    await deliver({ to: mail.returnPath, raw: formatDsn({ status, diagnostic, recipient: mail.email }) });
    const state = await readState(mail);
    expect(state.mail).toMatchObject(expected);
    expect(state).toMatchObject({ subscribed: true, entries: [] });
  });

  it.each([
    ['the Final-Recipient', (email: string) => `Final-Recipient: rfc822; ${email.toUpperCase()}`],
    [
      'the Original-Recipient of a forward, in xtext',
      (email: string) =>
        `Final-Recipient: rfc822; x@elsewhere.example\nOriginal-Recipient: rfc822;${encodeXtext(email)}`,
    ],
  ])('are read in the block of our recipient among several, found by %s', async (_, about) => {
    const mail = await buildEmailWithReturnPath();
    const relayed = 'Final-Recipient: rfc822; other@example.com\nAction: relayed\nStatus: 2.0.0';
    const ours = `${about(mail.email)}\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 User unknown`;
    await deliver({ to: mail.returnPath, raw: formatDsnForRecipients([relayed, ours]) });
    expect((await readState(mail)).mail).toMatchObject({ status: 'BOUNCED', reason: 'bounced:dead_mailbox' });
  });

  it('ignore the failure of another recipient', async () => {
    const email = await buildEmailWithReturnPath();
    const failed = 'Final-Recipient: rfc822; other@example.com\nAction: failed\nStatus: 5.1.1';
    const ours = `Final-Recipient: rfc822; ${email.email}\nAction: delivered\nStatus: 2.0.0`;
    await deliver({ to: email.returnPath, raw: formatDsnForRecipients([failed, ours]) });
    expect(await readState(email)).toMatchObject({ mail: { status: 'DELIVERED' }, entries: [] });
  });

  it('reports about another address, such as a forwarding target, do not suppress our recipient', async () => {
    const email = await buildEmailWithReturnPath();
    const blocks = [
      'Final-Recipient: rfc822; a@elsewhere.example\nAction: relayed\nStatus: 2.0.0',
      'Final-Recipient: rfc822; b@elsewhere.example\nAction: failed\nStatus: 4.2.2',
      'Final-Recipient: rfc822; c@elsewhere.example\nAction: failed\nStatus: 5.1.1',
    ];
    await deliver({ to: email.returnPath, raw: formatDsnForRecipients(blocks) });
    const state = await readState(email);
    expect(state.mail).toMatchObject({ status: 'BOUNCED', bounce_type: 'Transient', reason: 'bounced:unknown' });
    expect(state).toMatchObject({ subscribed: true, entries: [] });
  });

  it('are read in the block of the worst failure if no block names an address', async () => {
    const email = await buildEmailWithReturnPath();
    const blocks = ['Action: relayed\nStatus: 2.0.0', 'Action: failed\nStatus: 5.1.1'];
    await deliver({ to: email.returnPath, raw: formatDsnForRecipients(blocks) });
    expect((await readState(email)).mail).toMatchObject({ status: 'BOUNCED', reason: 'bounced:dead_mailbox' });
  });

  it('in the form for internationalized email are read like the older form', async () => {
    const email = await buildEmailWithReturnPath();
    const raw = formatDsn({ status: '5.1.1', recipient: email.email }).replace(
      /message\/(delivery-status)/,
      'message/global-$1',
    );
    await deliver({ to: email.returnPath, raw });
    expect((await readState(email)).mail).toMatchObject({ status: 'BOUNCED', reason: 'bounced:dead_mailbox' });
  });

  it.each([
    ['message/delivery-status', 'base64'],
    ['message/global-delivery-status', 'base64'],
    ['message/global-delivery-status', '8bit'],
    ['message/delivery-status', 'quoted-printable'],
  ] as const)('in the form %s with encoding %s are read', async (type, encoding) => {
    const email = await buildEmailWithReturnPath();
    const raw = formatDsn({
      status: '5.1.1',
      diagnostic: 'smtp; 550 5.1.1 Usager inconnu à Genève',
      recipient: email.email,
    });
    await deliver({ to: email.returnPath, raw: encodePart(raw, { from: 'message/delivery-status', type, encoding }) });
    expect(await readState(email)).toMatchObject({
      mail: { status: 'BOUNCED', reason: 'bounced:dead_mailbox' },
      entries: ['hard_bounce'],
    });
  });

  it.each([
    ['a person', 'reader@example.com', 'From: reader@example.com\n'],
    ['an automatic reply with the null sender', '', 'From: reader@example.com\nX-Autoreply: yes\n'],
    ['an automatic reply', 'reader@example.com', 'From: reader@example.com\nPrecedence: bulk\n'],
  ])('are not recognized in an email from %s that quotes a refusal', async (_, from, headers) => {
    const email = await buildEmailWithReturnPath();
    await deliver({
      from,
      to: email.returnPath,
      raw: `${headers}Subject: Re: Hello\n\nI got 550 5.1.1 user unknown.\n`,
    });
    expect(await readState(email)).toMatchObject({ mail: { status: 'SENT' }, subscribed: true, entries: [] });
  });

  it.each([
    [
      'qmail',
      (to: string) => `From: MAILER-DAEMON@x.example\n\n<${to}>:\nSorry, no mailbox here by that name. (#5.1.1)\n`,
    ],
    [
      'Exim',
      (to: string) =>
        `From: Mail Delivery System <Mailer-Daemon@x.example>\nAuto-Submitted: auto-replied\nX-Failed-Recipients: ${to}\n\n  ${to}\n    host mx.x.example [192.0.2.1]:\n    550 No such user\n`,
    ],
    [
      'HTML only',
      (to: string) =>
        `From: postmaster@x.example\nContent-Type: text/html\n\n<p>&lt;${to}&gt;:</p><p>550 5.1.1 User unknown</p>\n`,
    ],
  ])('in the text format of %s count as bounces, but not if they name another address', async (_, wordsFor) => {
    const [dead, forwarded] = [await buildEmailWithReturnPath(), await buildEmailWithReturnPath()];
    await deliver({ to: dead.returnPath, raw: wordsFor(dead.email) });
    expect(await readState(dead)).toMatchObject({ mail: { reason: 'bounced:dead_mailbox' }, entries: ['hard_bounce'] });
    await deliver({ to: forwarded.returnPath, raw: wordsFor('target@elsewhere.example') });
    expect(await readState(forwarded)).toMatchObject({
      mail: { reason: 'bounced:unknown' },
      subscribed: true,
      entries: [],
    });
  });

  const formatOpenSmtpdReport = (status: string, words: string) =>
    formatDsn({ status, recipient: 'RECIPIENT' }).replace("I'm sorry to have", `    ${words}\n\nI'm sorry to have`);

  it.each([
    [
      'OpenSMTPD',
      formatOpenSmtpdReport('5.0.0', 'RECIPIENT: 550 5.1.1 <RECIPIENT>: User unknown'),
      'bounced:dead_mailbox',
      1,
    ],
    [
      'OpenSMTPD for another address',
      formatOpenSmtpdReport('5.0.0', 'x@y.example: 550 5.1.1 User unknown'),
      'bounced:unknown',
      0,
    ],
    [
      'a specific status code',
      formatOpenSmtpdReport('5.7.1', 'RECIPIENT: 550 5.1.1 User unknown'),
      'provider_rejected',
      0,
    ],
    [
      'Exchange',
      formatDsn({
        status: '5.1.10',
        recipient: 'RECIPIENT',
        diagnostic:
          'smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient RECIPIENT not found by SMTP address lookup',
      }),
      'bounced:dead_mailbox',
      1,
    ],
    [
      'Exchange for a restricted group',
      formatDsn({
        status: '5.7.133',
        recipient: 'RECIPIENT',
        diagnostic:
          'smtp;550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required; Delivery restriction check failed because the sender was not authenticated when sending to this group',
      }),
      'provider_rejected',
      0,
    ],
  ])(
    'reports of %s are classified by their code, and by their text if the code is generic',
    async (_, raw, reason, n) => {
      const email = await buildEmailWithReturnPath();
      await deliver({ to: email.returnPath, raw: raw.replaceAll('RECIPIENT', email.email) });
      const state = await readState(email);
      expect(state).toMatchObject({ mail: { reason }, subscribed: n === 0 });
      expect(state.entries).toHaveLength(n);
    },
  );

  it('reports about a delay change nothing, and reports about a delivery are recorded', async () => {
    const email = await buildEmailWithReturnPath();
    await deliver({ to: email.returnPath, raw: formatDsn({ action: 'delayed', status: '4.4.1' }) });
    expect((await readState(email)).mail.status).toBe('SENT');
    await deliver({ to: email.returnPath, raw: formatDsn({ action: 'delivered', status: '2.0.0' }) });
    expect(await readState(email)).toMatchObject({ mail: { status: 'DELIVERED' }, names: ['email.delivery'] });
  });

  it('in plain text count as bounces, and automatic replies do not', async () => {
    const away = await buildEmailWithReturnPath();
    const reply =
      'From: reader@example.com\nSubject: Away\nAuto-Submitted: auto-replied\n\nI am away. 550 5.1.1 is my favourite code.\n';
    await deliver({ to: away.returnPath, raw: reply });
    expect((await readState(away)).mail.status).toBe('SENT');
    const old = await buildEmailWithReturnPath();
    const text = `From: MAILER-DAEMON@old.example\nSubject: failure notice\n\n<${old.email}>:\nRemote host said: 550 5.1.1 user unknown\n`;
    await deliver({ to: old.returnPath, raw: text });
    expect((await readState(old)).entries).toEqual(['hard_bounce']);
  });

  it('at a forged return path, or one signed with another key, are refused and change nothing', async () => {
    const email = await buildEmailWithReturnPath();
    const forged = email.returnPath.replace(/.(?=@)/, (last) => (last === '0' ? '1' : '0'));
    const foreign = createVerpAddress(deriveKey('some other secret key', 'verp'), email.id, 'shop.example.com');
    for (const to of [forged, foreign]) {
      await expect(deliver({ to, raw: formatDsn({ status: '5.1.1' }) })).rejects.toThrow(/550 5\.1\.1/);
    }
    expect((await readState(email)).mail.status).toBe('SENT');
  });

  it('reports about an unknown email are accepted without effect', async () => {
    const to = createVerpAddress(verpKey, '01a00000-0000-7000-8000-000000000000', 'shop.example.com');
    expect(await deliver({ to, raw: formatDsn({ status: '5.1.1' }) })).toMatch(/^250/);
  });
});

describe('unknown clients of the inbound listener', () => {
  it('get a reply to any input, and use at most 10 seconds of CPU time for three large messages', async () => {
    const { returnPath: to } = await buildEmailWithReturnPath();
    const deep = Array.from(
      { length: 200 },
      (_, n) => `Content-Type: multipart/mixed; boundary="x${n}"\n\n--x${n}\n`,
    ).join('');
    await expect(deliver({ to, raw: `From: a@b.c\n${deep}` })).rejects.toThrow(/554/);
    const many = `<https://a`.repeat(200_000);
    const before = process.cpuUsage();
    await deliver({ to: 'fbl@shop.example.com', raw: formatArf({ headers: `List-Unsubscribe: ${many}` }) });
    await deliver({ to, raw: formatDsn({ status: '5.1.1', diagnostic: `smtp; ${'550 5.1.1 '.repeat(100_000)}` }) });
    await deliver({ to, raw: `From: x@y.z\n\n${'550 '.repeat(500_000)}` });
    // CPU time of this process, which runs the listener. Elapsed time would depend on other work of the machine.
    expect(process.cpuUsage(before).user).toBeLessThan(10_000_000);
    await expect(
      deliver({ to, raw: `From: x@y.z\n\n${'x'.repeat(70)}\n`.padEnd(26 * 1024 * 1024, 'line\n') }),
    ).rejects.toThrow(/552/);
    for (const raw of [
      '',
      '\n',
      '\0\0',
      '--',
      'Content-Type: multipart/report\n\n',
      'Content-Type: message/delivery-status\n\n\xff',
    ]) {
      await deliver({ to, raw }).catch((error: Error) => expect(error.message).toMatch(/^.*\b5\d\d\b/));
    }
  });
});

describe('an SMTP session of the inbound listener', () => {
  it('is encrypted if a certificate is configured', async () => {
    const taken: string[] = [];
    const secure = await startInboundListener({
      host: '127.0.0.1',
      port: 0,
      name: 'mx.example.com',
      tls: author,
      handler: { accepts: async () => true, take: async ({ from }) => void taken.push(from) },
      onError: (error) => errors.push(error),
    });
    const options = { host: '127.0.0.1', port: secure.port, tls: { rejectUnauthorized: false } };
    const email = { from: 'a@author.example', to: 'b@shop.example.com', text: 'x' };
    await createTransport({ ...options, requireTLS: true }).sendMail(email);
    expect(taken).toEqual(['a@author.example']);
    await secure.close();
  });
});

describe('abuse reports (spam complaints)', () => {
  it('identify the email by the return path or the unsubscribe link that they quote', async () => {
    const proofs = [
      (email: { returnPath: string }) => ({ headers: `Return-Path: <${email.returnPath}>` }),
      (email: { returnPath: string }) => ({
        headers: 'X-None: none',
        fields: `Original-Mail-From: <${email.returnPath}>`,
      }),
      (email: { id: string }) => {
        const { manage } = createLinkTokens(TEST_SECRET_KEY, email.id);
        return { headers: `List-Unsubscribe: <https://mail.example.com/u/${manage}>,\n <mailto:x@shop.example.com>` };
      },
    ];
    for (const proof of proofs) {
      const email = await buildEmailWithReturnPath();
      await deliver({ from: 'fbl@isp.example', to: 'fbl@shop.example.com', raw: formatArf(proof(email)) });
      const state = await readState(email);
      expect(state.mail.status).toBe('COMPLAINED');
      expect(state).toMatchObject({
        subscribed: false,
        entries: ['complaint'],
        names: ['email.complaint', 'contact.unsubscribed'],
      });
      expect(state.events[1]?.data).toEqual({ reason: 'complaint' });
    }
  });

  it('count again if the reader has subscribed again in the meantime', async () => {
    const email = await buildEmailWithReturnPath();
    const raw = formatArf({ headers: `Return-Path: <${email.returnPath}>` });
    const deliverComplaint = () => deliver({ from: 'fbl@isp.example', to: 'fbl@shop.example.com', raw });
    await deliverComplaint();
    await api.call('POST', `/s/${createLinkTokens(TEST_SECRET_KEY, email.id).manage}`);
    expect(await readState(email)).toMatchObject({ subscribed: true, entries: [] });
    await deliverComplaint();
    expect(await readState(email)).toMatchObject({ subscribed: false, entries: ['complaint'] });
  });

  it.each([
    ['message/rfc822', 'base64'],
    ['message/global', '8bit'],
    ['message/global', 'base64'],
    ['message/global-headers', '8bit'],
    ['message/global-headers', 'base64'],
    ['text/rfc822-headers', 'quoted-printable'],
  ] as const)('are read if they quote the email as %s in %s, with a report in UTF-8', async (type, encoding) => {
    const email = await buildEmailWithReturnPath();
    const headers = `From: Kävla <händler@bücher.example>\nReturn-Path: <${email.returnPath}>`;
    const written = formatArf({
      type: 'fraud',
      headers,
      fields: 'User-Agent: Gerät/1.0\nReported-Domain: bücher.example',
    });
    const report = encodePart(written, { from: 'message/feedback-report', type: 'message/feedback-report', encoding });
    const raw = encodePart(report, { from: 'message/rfc822', type, encoding });
    await deliver({ from: 'fbl@isp.example', to: 'fbl@shop.example.com', raw });
    expect(await readState(email)).toMatchObject({ mail: { status: 'COMPLAINED' }, entries: ['complaint'] });
  });

  it('without a token that proves the email, or of another feedback type, change nothing', async () => {
    const email = await buildEmailWithReturnPath();
    const named = formatArf({
      headers: `Message-ID: <${email.id}@shop.example.com>\nReturn-Path: <bounce+0@shop.example.com>`,
    });
    await deliver({ to: 'fbl@shop.example.com', raw: named });
    await deliver({
      to: 'fbl@shop.example.com',
      raw: formatArf({ type: 'not-spam', headers: `Return-Path: <${email.returnPath}>` }),
    });
    expect((await readState(email)).mail.status).toBe('SENT');
  });
});

describe('email to a verified domain', () => {
  const signed = { domainName: 'author.example', keySelector: 'key' };

  async function deliverSignedEmail(p: { from: string; to: string; messageId: string }) {
    const dkim = { ...signed, privateKey: author.key };
    const transport = createTransport({
      host: '127.0.0.1',
      port: listener.port,
      ignoreTLS: true,
      dkim,
    });
    const { from, to, messageId } = p;
    return transport.sendMail({
      from: `Bob Reader <${from}>`,
      to,
      messageId,
      subject: 'Where is my ☕?',
      text: 'I wait.',
    });
  }

  it('is recorded as email.received for its sender, a new unsubscribed contact, with the authentication results', async () => {
    const messageId = '<one@author.example>';
    await deliverSignedEmail({ from: 'bob@author.example', to: 'help@shop.example.com', messageId });
    const contact = await api.db
      .selectFrom('contacts')
      .selectAll()
      .where('email', '=', 'bob@author.example')
      .executeTakeFirstOrThrow();
    expect(contact).toMatchObject({ subscribed: false, project_id: api.one.id });
    const events = await api.db.selectFrom('events').selectAll().where('contact_id', '=', contact.id).execute();
    expect(events.map((event) => event.name)).toEqual(['email.received']);
    expect(events[0]?.data).toMatchObject({
      subject: 'Where is my ☕?',
      from: 'bob@author.example',
      fromHeader: 'Bob Reader <bob@author.example>',
      fromName: 'Bob Reader',
      to: 'help@shop.example.com',
      recipients: ['help@shop.example.com'],
      messageId,
      sourceType: 'INBOUND',
      hasContent: true,
      body: expect.stringContaining('I wait.'),
      spamVerdict: 'DISABLED',
      virusVerdict: 'DISABLED',
      spfVerdict: 'PASS',
      dkimVerdict: 'PASS',
      dmarcVerdict: 'PASS',
      processingTimeMillis: expect.any(Number),
      timestamp: expect.stringMatching(/Z$/),
    });
    const { status, body } = await api.call('GET', `/v1/emails/${events[0]?.email_id}`);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      text: 'I wait.',
      status: 'RECEIVED',
      sourceType: 'INBOUND',
      to: 'help@shop.example.com',
      body: expect.stringContaining('I wait.'),
    });
  });

  it('is recorded with the email it replies to, its thread and its attachments, also beyond the first 512 KB', async () => {
    const long = Buffer.alloc(700 * 1024, 'pdf')
      .toString('base64')
      .replace(/.{76}/g, '$&\n');
    const raw = `From: thread@author.example
Message-ID: <three@x>
In-Reply-To: <sent@shop.example.com> (your email)
References: <first@shop.example.com>
 <sent@shop.example.com>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="m1"

--m1
Content-Type: text/plain

See the files.
--m1
Content-Type: application/pdf
Content-Transfer-Encoding: base64
Content-Disposition: attachment; filename*=UTF-8''b%C3%BCro.pdf

${long}
--m1
Content-Type: image/png; name="logo.png"
Content-Transfer-Encoding: base64
Content-Disposition: inline
Content-ID: <logo@x>

AAECAw==
--m1--
`;
    await deliver({ from: 'thread@author.example', to: 'help@shop.example.com', raw });
    const events = api.db.selectFrom('events').selectAll().where('name', '=', 'email.received');
    const event = await events.orderBy('id', 'desc').executeTakeFirstOrThrow();
    expect(event.data).toMatchObject({
      inReplyTo: '<sent@shop.example.com>',
      references: ['<first@shop.example.com>', '<sent@shop.example.com>'],
      body: expect.stringContaining('See the files.'),
      attachments: [
        { filename: 'büro.pdf', contentType: 'application/pdf', size: 700 * 1024, contentId: null },
        { filename: 'logo.png', contentType: 'image/png', size: 4, contentId: 'logo@x' },
      ],
    });
    const [pdf, logo] = (event.data as { attachments: { id: string }[] }).attachments;
    const getAttachmentPath = (file = pdf) => `/v1/emails/${event.email_id}/attachments/${file?.id}`;
    const { body: record } = await api.call('GET', `/v1/emails/${event.email_id}`);
    expect(record.data.attachments).toMatchObject([
      { id: pdf?.id, name: 'büro.pdf', size: 700 * 1024 },
      { id: logo?.id, name: 'logo.png', size: 4 },
    ]);
    const headers = { authorization: `Bearer ${api.one.secretKey}` };
    const found = await api.app.request(getAttachmentPath(), { headers });
    expect(found.headers.get('content-disposition')).toBe(
      `attachment; filename="b_ro.pdf"; filename*=UTF-8''b%C3%BCro.pdf`,
    );
    expect(Buffer.from(await found.arrayBuffer()).equals(Buffer.alloc(700 * 1024, 'pdf'))).toBe(true);
    // Files of received emails are deleted after 30 days, later than attachments of sent emails.
    await sql`UPDATE emails SET created_at = now() - interval '29 days' WHERE id = ${event.email_id}`.execute(api.db);
    await pruneTables(api.db, { attachmentDays: 1 });
    expect((await api.app.request(getAttachmentPath(logo), { headers })).status).toBe(200);
    await sql`UPDATE emails SET created_at = now() - interval '31 days' WHERE id = ${event.email_id}`.execute(api.db);
    await sql`UPDATE attachments SET id = overlay(id::text PLACING '0190a000' FROM 1 FOR 8)::uuid`.execute(api.db);
    await sql`
      UPDATE emails SET options = jsonb_build_object('attachmentIds', (SELECT jsonb_agg(a.id) FROM attachments a)) WHERE id = ${event.email_id}
    `.execute(api.db);
    await pruneTables(api.db, { attachmentDays: 1 });
    const ids = await api.db.selectFrom('attachments').select(['id', 'size']).execute();
    expect(ids.map(({ size }) => size).sort()).toEqual([4, 700 * 1024].sort());
    const dropped = await api.call('GET', getAttachmentPath(ids[0]));
    expect([dropped.status, dropped.body.error.message]).toEqual([404, expect.stringContaining('was deleted')]);
  });

  it('is recorded with its text in the Unicode form that filters compare', async () => {
    const raw =
      'From: form@author.example\nMessage-ID: <form@x>\nContent-Type: text/plain; charset=utf-8\n\ncafe\u0301\n';
    await deliver({ from: 'form@author.example', to: 'help@shop.example.com', raw });
    const events = api.db.selectFrom('events').selectAll().where('name', '=', 'email.received');
    const event = await events.orderBy('id', 'desc').executeTakeFirstOrThrow();
    expect(event.data).toMatchObject({ body: expect.stringContaining('caf\u00e9') });
  });

  it('is recorded with empty fields if it has no thread and no files', async () => {
    const raw = 'From: alone@author.example\nMessage-ID: <four@x>\nIn-Reply-To: your email\n\nHello.\n';
    await deliver({ from: 'alone@author.example', to: 'help@shop.example.com', raw });
    const events = api.db.selectFrom('events').selectAll().where('name', '=', 'email.received');
    const event = await events.orderBy('id', 'desc').executeTakeFirstOrThrow();
    expect(event.data).toMatchObject({ inReplyTo: null, references: [], attachments: [] });
  });

  it('with a forged sender is recorded with failed authentication results', async () => {
    const createRawEmail = 'From: eve@author.example\nMessage-ID: <two@x>\nSubject: {{ 7 }}\n\nSend me money.\n';
    await deliver({ from: 'eve@elsewhere.example', to: 'help@shop.example.com', raw: createRawEmail });
    const events = api.db.selectFrom('events').selectAll().where('name', '=', 'email.received');
    const event = await events.orderBy('id', 'desc').executeTakeFirstOrThrow();
    expect(event.data).toMatchObject({
      subject: '{{ 7 }}',
      fromHeader: 'eve@author.example',
      from: 'eve@elsewhere.example',
      spfVerdict: 'GRAY',
      dkimVerdict: 'GRAY',
      dmarcVerdict: 'FAIL',
    });
  });

  it('is a repetition only if Message-ID, recipient and bytes are the same', async () => {
    const raw = (text: string) => `From: rita@elsewhere.example\nMessage-ID: <again@x>\nSubject: Hi\n\n${text}\n`;
    const deliverText = (to: string, text: string) => deliver({ from: 'rita@elsewhere.example', to, raw: raw(text) });
    await deliverText('help@shop.example.com', 'One');
    await deliverText('help@shop.example.com', 'One');
    await deliverText('sales@shop.example.com', 'One');
    await deliverText('help@shop.example.com', 'Two');
    await deliverText('help@shop.example.com', 'Two');
    const events = await api.db
      .selectFrom('events as e')
      .innerJoin('contacts as c', 'c.id', 'e.contact_id')
      .select(sql<string>`(e.data->>'to') || ' ' || trim(e.data->>'body', E'\\r\\n ')`.as('seen'))
      .where('c.email', '=', 'rita@elsewhere.example')
      .orderBy('e.id')
      .execute();
    expect(events.map(({ seen }) => seen)).toEqual([
      'help@shop.example.com One',
      'sales@shop.example.com One',
      'help@shop.example.com Two',
    ]);
  });

  it.each([
    ['without a text part', 'Content-Type: text/html\n\n<style>p{}</style><p>I wait &amp; wait.</p>\n'],
    ['with 30,000 nested elements', `Content-Type: text/html\n\n<p>I wait &amp; wait.</p>${'<div>'.repeat(30_000)}\n`],
  ])('an email in HTML %s is recorded as text', async (_, content) => {
    const raw = `From: hugo@elsewhere.example\nMessage-ID: <${content.length}@x>\n${content}`;
    await deliver({ from: 'hugo@elsewhere.example', to: 'help@shop.example.com', raw });
    const events = api.db.selectFrom('events').selectAll().where('name', '=', 'email.received');
    const event = await events.orderBy('id', 'desc').executeTakeFirstOrThrow();
    const { body } = event.data as { body: string };
    expect(body).toMatch(/^I wait & wait\./);
    expect(body).not.toContain('<');
  });

  it('is refused for a domain that is not verified', async () => {
    await expect(
      deliverSignedEmail({ from: 'eve@unknown.example', to: 'x@nobody.example', messageId: '<3@x>' }),
    ).rejects.toThrow(/550/);
    await buildDomain(api.db, { projectId: api.two.id, domain: 'pending.example.com', status: 'PENDING' });
    await expect(
      deliverSignedEmail({ from: 'bob@author.example', to: 'a@pending.example.com', messageId: '<4@x>' }),
    ).rejects.toThrow(/550/);
  });
});

describe('automatic replies to a project', () => {
  let sent = 0;

  /** Delivers an email to the project. Returns its event. */
  async function receiveEmail(p: { author?: string; from?: string; headers?: string; to?: string } = {}) {
    sent += 1;
    const author = p.author ?? `author-${sent}@elsewhere.example`;
    const raw = `From: ${author}\nMessage-ID: <automatic-${sent}@x>\nSubject: Re: Hello\n${p.headers ?? ''}\nI am away.\n`;
    await deliver({ from: p.from ?? author, to: p.to ?? 'help@shop.example.com', raw });
    const events = api.db.selectFrom('events').selectAll().where('name', '=', 'email.received');
    const event = await events.orderBy('id', 'desc').executeTakeFirstOrThrow();
    return event.data as { messageId: string; autoSubmitted: unknown };
  }

  /** Builds a workflow that each received email starts, and that ends at once. */
  const buildReceivedWorkflow = (name: string) =>
    buildWorkflow(api, {
      eventName: 'email.received',
      allowReentry: true,
      steps: { out: { type: 'EXIT' } },
      name,
    });

  it.each([
    'Auto-Submitted: auto-replied (vacation)\n',
    'auto-submitted: Auto-Generated\n',
    'Auto-Submitted: no\nPrecedence: Bulk\n',
    'X-Auto-Response-Suppress: DR, OOF, AutoReply\n',
    'Precedence: auto_reply\n',
    'Precedence: junk\n',
    'X-Autoreply: yes\n',
    'X-Autorespond: Re: Hello\n',
    'X-Autoresponder: v2\n',
    'X-Mail-Autoreply: true\n',
  ])('are recognized by %j', async (headers) => {
    expect(await receiveEmail({ headers })).toMatchObject({ autoSubmitted: true });
  });

  it('are recognized by the null sender and by a mailer daemon as sender', async () => {
    expect(await receiveEmail({ from: '' })).toMatchObject({ autoSubmitted: true });
    expect(await receiveEmail({ from: 'mailer-daemon@elsewhere.example' })).toMatchObject({ autoSubmitted: true });
    const forwarded = { author: 'MAILER-DAEMON@elsewhere.example', from: 'srs0=x=elsewhere.example@forwarder.example' };
    expect(await receiveEmail(forwarded)).toMatchObject({ autoSubmitted: true });
  });

  it.each([
    '',
    'Auto-Submitted: no\n',
    'Auto-Submitted: NO; owner=x\n',
    'Precedence: list\n',
    'X-Auto-Response-Suppress: None\n',
  ])('are not recognized in an email with %j, which is from a person', async (headers) => {
    expect(await receiveEmail({ headers })).toMatchObject({ autoSubmitted: false });
  });

  it('do not include an email of a person to a return path and to the project, which the project receives', async () => {
    const { returnPath } = await buildEmailWithReturnPath();
    const raw = 'From: both@elsewhere.example\nMessage-ID: <both@x>\nSubject: Re: Hello\n\nThanks\n';
    await deliver({ from: 'both@elsewhere.example', to: [returnPath, 'help@shop.example.com'], raw });
    const events = api.db.selectFrom('events').select('data').where('name', '=', 'email.received');
    const event = await events.orderBy('id', 'desc').executeTakeFirstOrThrow();
    expect(event.data).toMatchObject({ messageId: '<both@x>', recipients: ['help@shop.example.com'] });
  });

  it('do not include read receipts, which are not recorded', async () => {
    const before = await receiveEmail();
    const raw = `From: receipts@elsewhere.example
Message-ID: <receipt@x>
Content-Type: multipart/report; report-type=disposition-notification; boundary=b

--b
Content-Type: text/plain

Your message was displayed.
--b
Content-Type: message/disposition-notification

Final-Recipient: rfc822;reader@elsewhere.example
Disposition: manual-action/MDN-sent-manually; displayed
--b--
`;
    expect(await deliver({ to: 'help@shop.example.com', raw })).toMatch(/^250/);
    const events = api.db.selectFrom('events').selectAll().where('name', '=', 'email.received');
    expect((await events.orderBy('id', 'desc').executeTakeFirstOrThrow()).data).toEqual(before);
  });

  it('start and end no workflow unless the workflow includes automatic emails', async () => {
    const author = 'away@elsewhere.example';
    const person = await buildReceivedWorkflow('Persons');
    const all = await buildReceivedWorkflow('All');
    const patched = await api.call('PATCH', `/workflows/${all.id}`, {
      body: { triggerConfig: { includeAutomatic: true } },
    });
    expect(patched.body).toMatchObject({ triggerConfig: { eventName: 'email.received', includeAutomatic: true } });
    await receiveEmail({ author, headers: 'Auto-Submitted: auto-replied\n' });
    expect(await listExecutions(api, person.id)).toEqual([]);
    expect(await listExecutions(api, all.id)).toHaveLength(1);
    await receiveEmail({ author });
    expect(await listExecutions(api, person.id)).toHaveLength(1);
    for (const { id } of [person, all]) await api.call('PATCH', `/workflows/${id}`, { body: { enabled: false } });
  });

  it.each([
    ['a wait', { eventName: 'email.received' }, undefined],
    ['an exit', { eventName: 'never' }, { eventName: 'email.received' }],
  ])('are ignored by %s that does not include them', async (_, config, exit) => {
    const author = `waits-${exit ? 'exit' : 'wait'}@elsewhere.example`;
    const buildWaiting = async (includeAutomatic: object) => {
      const { id } = await buildWorkflow(api, {
        eventName: `begin-${sent}-${Object.keys(includeAutomatic).length}`,
        steps: {
          pause: { type: 'WAIT_FOR_EVENT', config: { ...config, ...(!exit && includeAutomatic) }, to: 'out' },
          out: { type: 'EXIT' },
        },
      });
      if (exit) {
        const body = { exitOn: [{ ...exit, ...includeAutomatic }] };
        expect((await api.call('PATCH', `/workflows/${id}`, { body })).body).toMatchObject(body);
      }
      return id;
    };
    const persons = await buildWaiting({});
    const all = await buildWaiting({ includeAutomatic: true });
    for (const event of [`begin-${sent}-0`, `begin-${sent}-1`])
      await api.call('POST', '/v1/track', { body: { email: author, event } });
    /** Returns the number of executions of the workflow that still wait for an event. */
    const countOpen = async (workflowId: string) => {
      const open = await api.db
        .selectFrom('executions as x')
        .innerJoin('execution_waits as w', 'w.execution_id', 'x.id')
        .select('x.id')
        .where('x.workflow_id', '=', workflowId)
        .where('x.completed_at', 'is', null)
        .where('w.event_id', 'is', null)
        .execute();
      return open.length;
    };
    expect([await countOpen(persons), await countOpen(all)]).toEqual([1, 1]);
    await receiveEmail({ author, headers: 'Precedence: auto_reply\n' });
    expect([await countOpen(persons), await countOpen(all)]).toEqual([1, 0]);
    await receiveEmail({ author });
    expect(await countOpen(persons)).toBe(0);
  });

  it('start a workflow at most 5 times an hour for the same contact, also if they arrive concurrently', async () => {
    const { id } = await buildReceivedWorkflow('Loop');
    const author = 'loop@elsewhere.example';
    await receiveEmail({ author });
    await Promise.all(Array.from({ length: 6 }, () => receiveEmail({ author })));
    await receiveEmail({ author: 'another@elsewhere.example' });
    const executions = await listExecutions(api, id);
    expect(executions).toHaveLength(6);
    await api.db
      .updateTable('executions')
      .set({ started_at: sql`now() - interval '61 minutes'` })
      .where('workflow_id', '=', id)
      .execute();
    await receiveEmail({ author });
    expect(await listExecutions(api, id)).toHaveLength(7);
    await api.call('PATCH', `/workflows/${id}`, { body: { enabled: false } });
  });
});
