import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDomain } from '../build/senders.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { until } from '../support/until.ts';

let service: TestService;
let sink: SmtpSink;

beforeAll(async () => {
  sink = await startSmtpSink({ keepBodies: true });
  service = await startTestService({ EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url });
  await buildDomain(service.db, { projectId: service.one.id });
});
afterAll(async () => {
  await service?.close();
  await sink?.close();
});

const FROM = 'shop@shop.example.com';
const send = (body: object) =>
  service.call('POST', '/v1/send', {
    body: { from: FROM, subject: 'Your order', body: '<p>Hello {{name}}</p>', ...body },
  });

/** Returns the message that the server received for a recipient, with the addresses of its envelope. */
async function readArrivedAt(to: string) {
  const at = await until(async () => {
    const found = sink.messages.findIndex((message) => message.to === to);
    return found >= 0 && { index: found };
  }, `the email to ${to}`);
  const raw = sink.bodies[at.index] ?? '';
  const head = raw.slice(0, raw.indexOf('\r\n\r\n'));
  const fields = head
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .map((line) => line.split(/: ?(.*)/s) as [string, string]);
  const findHeader = (name: string) => fields.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value);
  return { raw, header: findHeader, parsed: await PostalMime.parse(Buffer.from(raw, 'latin1')) };
}

describe('cc and bcc', () => {
  it('get copies with the same To and Cc, without Bcc, and with their own envelope and record', async () => {
    const { status, body } = await send({
      to: { name: 'Ada', email: 'ada@to.test' },
      cc: [{ name: 'Böb, of Sales', email: 'bob@to.test' }, 'carol@to.test'],
      bcc: 'Dora <dora@to.test>',
      data: { name: 'Ada' },
    });
    expect([status, body.data.emails.length]).toEqual([200, 4]);
    expect(body.data.emails.map((one: { role?: string }) => one.role)).toEqual([undefined, 'cc', 'cc', 'bcc']);
    const returnPaths = new Set<string>();
    for (const to of ['ada@to.test', 'bob@to.test', 'carol@to.test', 'dora@to.test']) {
      const { raw, header, parsed } = await readArrivedAt(to);
      expect(parsed.to, to).toEqual([{ name: 'Ada', address: 'ada@to.test' }]);
      expect(parsed.cc, to).toEqual([
        { name: 'Böb, of Sales', address: 'bob@to.test' },
        { name: '', address: 'carol@to.test' },
      ]);
      expect(header('bcc'), to).toEqual([]);
      expect(raw.replaceAll('dora@to.test', ''), to).toBe(raw);
      expect(parsed.html, to).toContain('Hello Ada');
      expect(header('dkim-signature')[0], to).toMatch(/h=[^;]*\bcc\b/);
      returnPaths.add(sink.messages.find((message) => message.to === to)?.from ?? '');
    }
    expect(returnPaths.size).toBe(4);
    const record = await service.call('GET', `/v1/emails/${body.data.emails[3].email}`);
    expect(record.body.data).toMatchObject({ to: 'dora@to.test', role: 'bcc' });
    expect(record.body.data.headers).toMatchObject({
      to: 'Ada <ada@to.test>',
      cc: expect.stringContaining('carol@to.test'),
    });
  });

  it('change no contact: the fields of the request concern the recipient in `to` only', async () => {
    await send({ to: 'eve@to.test', cc: 'finn@to.test', subscribed: true, data: { plan: 'pro' } });
    const rows = await service.db
      .selectFrom('contacts')
      .select(['email', 'subscribed', 'data'])
      .where('email', 'in', ['eve@to.test', 'finn@to.test'])
      .orderBy('email')
      .execute();
    expect(rows).toMatchObject([
      { email: 'eve@to.test', subscribed: true, data: { plan: 'pro' } },
      { email: 'finn@to.test', subscribed: false, data: {} },
    ]);
  });

  it('skip suppressed addresses and report them', async () => {
    await service.call('POST', '/v1/suppressions', { body: { email: 'gone@to.test', reason: 'hard_bounce' } });
    const { body } = await send({ to: 'gus@to.test', cc: ['gone@to.test', 'hal@to.test'] });
    expect(body.data.skipped).toEqual([{ email: 'gone@to.test', reason: 'suppressed' }]);
    expect(body.data.emails).toHaveLength(2);
    expect((await readArrivedAt('hal@to.test')).parsed.cc).toEqual([{ name: '', address: 'hal@to.test' }]);
  });

  it('get one copy if an address is named twice', async () => {
    const { body } = await send({ to: 'ida@to.test', cc: ['IDA@to.test', 'jon@to.test'], bcc: ['jon@TO.test'] });
    expect(
      body.data.emails.map((one: { contact: { email: string }; role?: string }) => [one.contact.email, one.role]),
    ).toEqual([
      ['ida@to.test', undefined],
      ['jon@to.test', 'cc'],
    ]);
  });

  it('skip copies to addresses without marketing consent, and still send the email', async () => {
    const template = await service.call('POST', '/v1/templates', {
      body: { name: 'News', subject: 'News', body: '<p>News</p>', from: FROM, type: 'MARKETING' },
    });
    const { status, body } = await service.call('POST', '/v1/send', {
      body: { to: 'kim@to.test', cc: 'new@to.test', subscribed: true, template: template.body.id },
    });
    expect([status, body.data.skipped]).toEqual([200, [{ email: 'new@to.test', reason: 'unsubscribed' }]]);
    const { header } = await readArrivedAt('kim@to.test');
    expect(header('list-unsubscribe')).toHaveLength(1);
    expect(header('cc')).toEqual([]);
  });

  it('drop the address of an erased contact from the records of the other copies', async () => {
    const { body } = await send({ to: 'lea@to.test', cc: 'mia@to.test' });
    const [to, cc] = body.data.emails;
    await readArrivedAt('mia@to.test');
    await service.call('DELETE', `/v1/contacts/${cc.contact.id}`);
    await until(async () => {
      const { body: record } = await service.call('GET', `/v1/emails/${to.email}`);
      return !JSON.stringify(record).includes('mia@to.test');
    }, 'the record without the erased address');
  });

  it.each([
    ['several recipients', { to: ['a@to.test', 'b@to.test'], cc: 'c@to.test' }, 'to'],
    ['51 copies', { to: 'a@to.test', bcc: Array.from({ length: 51 }, (_, n) => `b${n}@to.test`) }, 'bcc'],
    [
      '51 copies in cc and bcc together',
      { to: 'a@to.test', cc: Array.from({ length: 50 }, (_, n) => `b${n}@to.test`), bcc: 'x@to.test' },
      'cc',
    ],
    ['an invalid address', { to: 'a@to.test', cc: ['b@to.test', 'nobody'] }, 'cc.1'],
  ])('return 422 with %s', async (_, body, field) => {
    const response = await send(body);
    expect([response.status, response.body.error.errors[0].field]).toEqual([422, field]);
  });
});

describe('the reply-to address', () => {
  it.each([
    ['a text', { reply: 'help@x.test' }, [['', 'help@x.test']]],
    ['a text with a name', { replyTo: 'Help <help@x.test>' }, [['Help', 'help@x.test']]],
    ['an object', { reply: { name: 'Hélp', email: 'help@x.test' } }, [['Hélp', 'help@x.test']]],
    [
      'a list',
      { replyTo: ['a@x.test', { name: 'B', email: 'b@x.test' }] },
      [
        ['', 'a@x.test'],
        ['B', 'b@x.test'],
      ],
    ],
  ])('may be %s', async (_, reply, expected) => {
    const to = `reply-${expected
      .flat()
      .join('-')
      .replace(/[^a-z-]/gi, '')}@to.test`.toLowerCase();
    const { status } = await send({ to, ...reply });
    expect(status).toBe(200);
    const { parsed } = await readArrivedAt(to);
    expect(parsed.replyTo?.map(({ name, address }) => [name, address])).toEqual(expected);
  });

  it('is refused if a request has both `reply` and `replyTo`', async () => {
    const { status, body } = await send({ to: 'a@to.test', reply: 'a@x.test', replyTo: 'b@x.test' });
    expect([status, body.error.errors[0].field]).toEqual([422, 'replyTo']);
  });
});

describe('email headers that the caller sets', () => {
  const REFERENCES = Array.from({ length: 9 }, (_, n) => `<thread-${n}-=?x?=-${'a'.repeat(60)}@mail.example.com>`).join(
    ' ',
  );

  it.each([[undefined], [[{ filename: 'a.txt', content: 'QQ==', contentType: 'text/plain' }]]])(
    'are sent as they were given, with attachments %j',
    async (attachments) => {
      const to = attachments ? 'files@to.test' : 'headers@to.test';
      const { status, body } = await send({
        to,
        attachments,
        headers: {
          'Message-ID': '<order-4711@shop.example.com>',
          'In-Reply-To': '<first@mail.example.com>',
          References: REFERENCES,
          'Content-Language': 'de-CH, en',
          'X-Order': '4711',
          'Auto-Submitted': 'auto-generated',
        },
      });
      expect([status, body.error]).toEqual([200, undefined]);
      const { raw, header } = await readArrivedAt(to);
      expect(header('message-id')).toEqual(['<order-4711@shop.example.com>']);
      expect(header('in-reply-to')).toEqual(['<first@mail.example.com>']);
      expect(header('references')).toEqual([REFERENCES]);
      expect(header('content-language')).toEqual(['de-CH, en']);
      expect(header('x-order')).toEqual(['4711']);
      expect(header('dkim-signature')[0]?.replaceAll(/\s/g, '')).toMatch(/h=[^;]*in-reply-to:references/);
      expect(Math.max(...raw.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
      const { body: record } = await service.call('GET', `/v1/emails/${body.data.emails[0].email}`);
      expect(record.data.headers['message-id']).toBe('<order-4711@shop.example.com>');
    },
  );

  it.each([
    ['From', 'a@b.c', 'from'],
    ['to', 'a@b.c', 'to'],
    ['CC', 'a@b.c', 'cc'],
    ['Bcc', 'a@b.c', 'bcc'],
    ['Subject', 'S', 'subject'],
    ['Reply-To', 'a@b.c', 'replyTo'],
    ['Date', 'Fri, 27 Nov 2026 07:00:00 +0000', 'service sets'],
    ['Message-ID', 'order 4711', 'message id'],
    ['Message-ID', '<a@b>, <c@d>', 'message id'],
    ['In-Reply-To', 'order', 'message id'],
    ['References', '<a@b> c', 'message id'],
    ['Content-Language', 'german language!', 'language'],
    ['Content-Type', 'text/plain', 'parts'],
    ['Content-Transfer-Encoding', '8bit', 'parts'],
    ['MIME-Version', '1.0', 'parts'],
    ['Sender', 'a@b.c', 'service'],
  ])('with %s: %s return 422 and are named', async (name, value, remedy) => {
    const { status, body } = await send({ to: 'a@to.test', headers: { [name]: value } });
    expect([status, body.error.errors[0].field]).toEqual([422, `headers.${name}`]);
    expect(body.error.errors[0].message).toContain(remedy);
  });
});

describe('an attachment that is an alternative form of the text', () => {
  const INVITATION = ['BEGIN:VCALENDAR', 'METHOD:REQUEST', 'SUMMARY:Büro', 'END:VCALENDAR', ''].join('\r\n');
  const invitation = {
    filename: 'invite.ics',
    content: Buffer.from(INVITATION).toString('base64'),
    contentType: 'text/calendar; method=REQUEST',
    alternative: true,
  };
  const file = { filename: 'a.txt', content: 'QQ==', contentType: 'text/plain' };

  it.each([
    ['alone', [invitation]],
    ['beside a file', [file, invitation]],
  ])('is placed beside text and HTML, %s, and is not shown as a file', async (name, attachments) => {
    const to = `invited-${name.replace(/ /g, '-')}@to.test`;
    expect((await send({ to, attachments })).status).toBe(200);
    const { raw, parsed } = await readArrivedAt(to);
    const types = [...raw.matchAll(/^Content-Type: ([^\r\n;]+)/gm)].map(([, type]) => type);
    const body = ['multipart/alternative', 'text/plain', 'text/html', 'text/calendar'];
    expect(types).toEqual(attachments.length > 1 ? ['multipart/mixed', ...body, 'text/plain'] : body);
    expect(raw.replace(/\r\n[ \t]/g, ' ')).toMatch(/Content-Type: text\/calendar; method=REQUEST; charset=utf-8/);
    const calendar = parsed.attachments.find(({ mimeType }) => mimeType === 'text/calendar');
    // The test compares the raw message, because the parser would change line ends.
    expect(raw).toContain(`quoted-printable\r\n\r\n${INVITATION.replace('ü', '=C3=BC')}`);
    expect(calendar?.filename ?? null).toBeNull();
  });

  it('is placed before the HTML if it is AMP, also with other forms and beside an inline image', async () => {
    const amp = {
      filename: 'a.html',
      content: Buffer.from('<html amp4email></html>').toString('base64'),
      contentType: 'text/x-amp-html; charset=utf-8',
      alternative: true,
    };
    const image = { ...file, filename: 'l.png', contentType: 'image/png', disposition: 'inline', contentId: 'logo' };
    const forms = [
      { to: 'amp@to.test', attachments: [amp], types: ['text/html'] },
      {
        to: 'amp-2@to.test',
        attachments: [invitation, amp, amp],
        types: ['text/x-amp-html', 'text/html', 'text/calendar'],
      },
      { to: 'amp-3@to.test', attachments: [image, amp], types: ['multipart/related', 'text/html', 'image/png'] },
    ];
    for (const { to, attachments, types } of forms) {
      expect((await send({ to, attachments, body: '<p>Hi<img src="cid:logo"></p>' })).status).toBe(200);
      const { raw } = await readArrivedAt(to);
      const found = [...raw.matchAll(/^Content-Type: ([^\r\n;]+)/gm)].map(([, type]) => type);
      expect(found).toEqual(['multipart/alternative', 'text/plain', 'text/x-amp-html', ...types]);
    }
  });

  it.each([
    ['text/html', {}, 'contentType'],
    ['multipart/mixed', {}, 'contentType'],
    ['text/calendar', { disposition: 'inline', contentId: 'x' }, 'alternative'],
  ])('returns 422 with the type %s and %j', async (contentType, more, field) => {
    const { status, body } = await send({ to: 'a@to.test', attachments: [{ ...invitation, contentType, ...more }] });
    expect([status, body.error.errors[0].field]).toEqual([422, `attachments.0.${field}`]);
  });
});
