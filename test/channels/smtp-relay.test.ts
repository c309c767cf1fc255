import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { sql } from 'kysely';
import nodemailer from 'nodemailer';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RELAY_MAX_BYTES, type RelayMessage, startRelayListener } from '../../channels/relay/listener.ts';
import { buildApiKey } from '../support/api.ts';
import { createCertificate } from '../support/certificate.ts';
import type { TestService } from '../support/service.ts';
import { type RelayService, startRelayService } from '../support/smtp/relay-service.ts';
import type { SmtpSink } from '../support/smtp/smtp-sink.ts';
import { until } from '../support/until.ts';

let relay: RelayService;
let service: TestService;
let sink: SmtpSink;
let port: number;

beforeAll(async () => {
  relay = await startRelayService();
  ({ service, sink, port } = relay);
});
beforeEach(() => sink.reset());
afterAll(() => relay?.close());

function createClient(key = service.one.secretKey, options: object = {}) {
  return nodemailer.createTransport({
    host: '127.0.0.1',
    port,
    auth: { user: 'apikey', pass: key },
    tls: { rejectUnauthorized: false },
    ...options,
  });
}

const email = { from: '"Shop, Inc." <Hello@Sender.test>', to: 'ada@to.test', subject: 'Hi', text: 'Hello' };

/** Returns the SMTP reply with which a message or a session is refused, or `accepted`. */
async function readRefusal(sending: Promise<unknown>): Promise<string> {
  return sending.then(
    () => 'accepted',
    (error: { response?: string }) => error.response ?? String(error),
  );
}

async function readRecord(id = '') {
  const { status, body } = await service.call('GET', `/v1/emails/${id}`);
  expect(status).toBe(200);
  return body.data;
}

async function countEmails(): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM emails`.execute(service.db);
  return rows[0]?.n ?? 0;
}

describe('a message through the SMTP relay', () => {
  it('is sent without the headers that only the service and mail servers may write', async () => {
    const names = ['X-SES-CONFIGURATION-SET', 'Authentication-Results', 'Return-Path', 'Sender', 'ARC-Seal'];
    const forged = Object.fromEntries(names.map((name) => [name, '<https://evil.example/forged>']));
    await createClient().sendMail({ ...email, headers: { ...forged, 'X-Order': '4711' } });
    const [raw = ''] = await relay.waitForEmails();
    const { headers } = await PostalMime.parse(Buffer.from(raw, 'latin1'));
    expect(headers.find(({ key }) => key === 'x-order')?.value).toBe('4711');
    expect(raw).not.toContain('evil.example');
    expect(headers.filter(({ key }) => /^(x-ses-|arc-|sender)/.test(key))).toEqual([]);
  });

  it('is stored before its 250 reply, and is sent with its text, HTML, headers and files', async () => {
    const { response, messageId } = await createClient().sendMail({
      ...email,
      to: '"Ada Löwe" <Ada@to.test>',
      replyTo: 'answers@sender.test',
      subject: 'Grüße {{name}} {% if %}',
      text: 'The text, as it is.\nLine two {{name}}',
      html: '<p>Hello {{name}} &amp; co</p><img src="cid:logo@here"><a href="https://example.com/?a={{b}}">x</a>',
      headers: { 'X-Order': '4711', 'In-Reply-To': '<before@sender.test>' },
      attachments: [
        { filename: 'Rechnung ä.txt', content: 'Ä bill\n', contentType: 'text/plain' },
        { filename: 'logo.png', content: Buffer.from([1, 2, 3, 0, 255]), contentType: 'image/png', cid: 'logo@here' },
      ],
    });
    const id = /^250 2\.0\.0 Accepted as ([0-9a-f-]{36})$/.exec(response)?.[1] ?? response;
    expect(await readRecord(id)).toMatchObject({ to: 'ada@to.test', sourceType: 'TRANSACTIONAL', mode: 'live' });
    const [raw = ''] = await relay.waitForEmails();
    const parsed = await PostalMime.parse(Buffer.from(raw, 'latin1'));
    expect(parsed.subject).toBe('Grüße {{name}} {% if %}');
    expect(parsed.from).toMatchObject({ name: 'Shop, Inc.', address: 'Hello@sender.test' });
    expect(parsed.to).toMatchObject([{ name: 'Ada Löwe', address: 'Ada@to.test' }]);
    expect(parsed.replyTo).toMatchObject([{ address: 'answers@sender.test' }]);
    expect(parsed.text?.trim()).toBe('The text, as it is.\nLine two {{name}}');
    expect(parsed.html).toContain('<p>Hello {{name}} &amp; co</p>');
    const findHeader = (name: string) => parsed.headers.find(({ key }) => key === name)?.value;
    expect([findHeader('x-order'), findHeader('in-reply-to')]).toEqual(['4711', '<before@sender.test>']);
    expect(parsed.messageId).toBe(messageId);
    expect((await readRecord(id)).headers['message-id']).toBe(messageId);
    const files = parsed.attachments.map((file) => ({
      name: file.filename,
      type: file.mimeType,
      cid: file.contentId,
      disposition: file.disposition,
      bytes: Buffer.from(file.content as ArrayBuffer),
    }));
    expect(files).toEqual(
      expect.arrayContaining([
        {
          name: 'Rechnung ä.txt',
          type: 'text/plain',
          cid: undefined,
          disposition: 'attachment',
          bytes: Buffer.from('Ä bill\n'),
        },
        {
          name: 'logo.png',
          type: 'image/png',
          cid: '<logo@here>',
          disposition: 'inline',
          bytes: Buffer.from([1, 2, 3, 0, 255]),
        },
      ]),
    );
  });

  it('to several recipients becomes a separate email for each, with the original To and Cc and without Bcc', async () => {
    const to = ['one@to.test', 'Two@to.test'];
    const { response } = await createClient().sendMail({ ...email, to, cc: 'three@to.test', bcc: 'four@to.test' });
    expect(response).toMatch(/^250 2\.0\.0 Accepted as \S+ and 3 more$/);
    const bodies = await relay.waitForEmails(4);
    expect([...sink.perRecipient().keys()].sort()).toEqual([
      'four@to.test',
      'one@to.test',
      'three@to.test',
      'two@to.test',
    ]);
    for (const raw of bodies) {
      const { to: shown, cc, bcc } = await PostalMime.parse(raw);
      expect(shown).toMatchObject([{ address: 'one@to.test' }, { address: 'Two@to.test' }]);
      expect(cc).toMatchObject([{ address: 'three@to.test' }]);
      expect(bcc).toBeUndefined();
      expect(raw).not.toContain('four@to.test');
    }
  });

  it('in plain text stays plain text', async () => {
    await createClient().sendMail({ ...email, text: 'a < b\n  indented\n' });
    const parsed = await PostalMime.parse((await relay.waitForEmails())[0] ?? '');
    expect(parsed.text?.trimEnd()).toBe('a < b\n  indented');
    expect(parsed.html).toBeUndefined();
  });

  it('with a test key is recorded and not sent', async () => {
    const { response } = await createClient(service.one.testKey).sendMail(email);
    const id = /Accepted as (\S+)/.exec(response)?.[1];
    await until(async () => (await readRecord(id)).status === 'SENT', 'SENT');
    expect((await readRecord(id)).mode).toBe('test');
    expect(sink.messages).toHaveLength(0);
  });

  it('a message from a domain that is not verified is refused with 550 5.7.1 and not stored', async () => {
    const before = await countEmails();
    expect(await readRefusal(createClient().sendMail({ ...email, from: 'x@elsewhere.test' }))).toMatch(
      /^550 5\.7\.1 \w/,
    );
    expect(await readRefusal(createClient(service.two.secretKey).sendMail(email))).toMatch(/^550 5\.7\.1 \w/);
    expect(await countEmails()).toBe(before);
  });

  it('over the monthly limit is deferred with 452', async () => {
    const setMonthlyLimit = (n: number | null) =>
      service.db.updateTable('projects').set({ monthly_email_limit: n }).where('id', '=', service.one.id).execute();
    await setMonthlyLimit(0);
    try {
      await until(async () => (await readRefusal(createClient().sendMail(email))).startsWith('452 4.7.1'), '452');
    } finally {
      await setMonthlyLimit(null);
    }
    await until(
      async () => (await readRefusal(createClient().sendMail(email))) === 'accepted',
      'the limit to be lifted',
    );
  });

  it('is refused permanently with more than 10 MB of files or a subject that is too long', async () => {
    const content = Buffer.alloc(10 * 1024 * 1024 + 1);
    expect(
      await readRefusal(createClient().sendMail({ ...email, attachments: [{ filename: 'a.bin', content }] })),
    ).toMatch(/^552 5\.3\.4 \w/);
    expect(await readRefusal(createClient().sendMail({ ...email, subject: 'x'.repeat(999) }))).toMatch(
      /^554 5\.6\.0 \w/,
    );
  });

  it('is refused at MAIL FROM, before it is transferred, if it announces more than 40 MB', async () => {
    const replies = await sendLines([
      'EHLO me',
      formatAuthCommand(service.one.secretKey),
      `MAIL FROM:<a@sender.test> SIZE=${RELAY_MAX_BYTES + 1}`,
    ]);
    expect(replies[1]).toContain(`SIZE ${RELAY_MAX_BYTES}`);
    expect(replies[3]).toMatch(/^552 5\.3\.4 /);
  });
});

it('the SMTP relay announces its supported extensions, but not enhanced status codes, which some of its replies lack', async () => {
  const [, announced = '', unknown] = await sendLines(['EHLO me', 'FOO']);
  const keywords = announced
    .trim()
    .split('\r\n')
    .slice(1)
    .map((line) => line.slice('250-'.length));
  const kept = ['8BITMIME', 'AUTH PLAIN LOGIN', 'PIPELINING', `SIZE ${RELAY_MAX_BYTES}`, 'STARTTLS'];
  expect(keywords.sort()).toEqual(kept);
  expect(unknown).toMatch(/^500 Error/);
});

describe('signing in to the SMTP relay', () => {
  it('accepts any user name, with PLAIN and LOGIN, over STARTTLS, and without TLS on loopback', async () => {
    for (const options of [
      { auth: { user: 'whoever', pass: service.one.secretKey } },
      { authMethod: 'LOGIN', ignoreTLS: true },
      { authMethod: 'PLAIN', ignoreTLS: true },
      { requireTLS: true },
    ])
      expect(await createClient(undefined, options).verify()).toBe(true);
  });

  it('with a key that lacks the scope is refused with a message that names the scope', async () => {
    const other = await buildApiKey(service.db, service.one.id, ['contacts:view']);
    for (const key of [service.one.bareKey, other])
      expect(await readRefusal(createClient(key).verify())).toMatch(/^535 5\.7\.1 .*email:send/);
  });

  it('with an unknown key, the public key or a text that is not a key is refused with 535', async () => {
    for (const key of [`sk_live_${'0'.repeat(64)}`, service.one.publicKey, 'x'])
      expect(await readRefusal(createClient(key).verify())).toMatch(/^535 5\.7\.8 /);
  });

  it('is required before MAIL FROM', async () => {
    const replies = await sendLines(['EHLO me', 'MAIL FROM:<a@sender.test>']);
    expect(replies[2]).toMatch(/^530 5\.7\.0 /);
  });

  it('with a key that is revoked during the session sends nothing more', async () => {
    const key = await buildApiKey(service.db, service.one.id, ['email:send']);
    const pooled = createClient(key, { pool: true, maxConnections: 1 });
    await pooled.sendMail(email);
    await sql`UPDATE api_keys SET revoked_at = now() WHERE project_id = ${service.one.id} AND scopes = '{email:send}'`.execute(
      service.db,
    );
    await until(async () => (await readRefusal(pooled.sendMail(email))).startsWith('535 5.7.8'), 'the refusal');
    pooled.close();
  });
});

describe('the SMTP relay for another host', () => {
  const address = Object.values(networkInterfaces())
    .flat()
    .find((found) => found?.family === 'IPv4' && !found.internal)?.address;

  async function readGreeting(p: { tls: boolean; allowPlain: boolean }): Promise<string[]> {
    const certificate = p.tls ? await createCertificate() : undefined;
    const handler = { signIn: async () => {}, checkRecipient: () => {}, take: async (_: RelayMessage) => 'ok' };
    const listener = await startRelayListener({
      host: '0.0.0.0',
      port: 0,
      name: 'relay.test',
      allowPlain: p.allowPlain,
      tls: certificate,
      handler,
      onError: () => {},
    });
    try {
      return await sendLines(['EHLO me', formatAuthCommand('key')], listener.port, address);
    } finally {
      await listener.close();
    }
  }

  it.skipIf(!address)('accepts passwords over TLS only, unless the operator allows plain text', async () => {
    const strict = await readGreeting({ tls: true, allowPlain: false });
    expect(strict[1]).toContain('STARTTLS');
    expect(strict[1]).not.toContain('AUTH');
    expect(strict[2]).toMatch(/^5/);
    const bare = await readGreeting({ tls: false, allowPlain: false });
    expect(bare[1]).not.toContain('AUTH');
    expect(bare[2]).toMatch(/^5/);
    expect((await readGreeting({ tls: false, allowPlain: true }))[2]).toMatch(/^235 /);
  });
});

const formatAuthCommand = (key: string) => `AUTH PLAIN ${Buffer.from(`\0apikey\0${key}`).toString('base64')}`;

/** Sends one line after the other. Returns the greeting and the replies. */
async function sendLines(lines: string[], to = port, host = '127.0.0.1'): Promise<string[]> {
  const socket = connect(to, host);
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
  return replies;
}
