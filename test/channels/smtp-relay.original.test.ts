import { connect } from 'node:net';
import { sql } from 'kysely';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import nodemailer from 'nodemailer';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { formatDkimRecord } from '../../rules/domains/dkim-key.ts';
import { type RelayService, startRelayService } from '../support/smtp/relay-service.ts';

/** The SMTP relay passes an application's message on as it was composed, and adds our signature. */

let relay: RelayService;
beforeAll(async () => {
  relay = await startRelayService();
});
beforeEach(() => relay.sink.reset());
afterAll(() => relay?.close());

const HEAD = ['From: Shop <hello@sender.test>', 'To: Ada <ada@to.test>', 'Subject: Hi', 'MIME-Version: 1.0'];

/** Sends a message unchanged, and returns the relay's reply. */
async function sendRaw(lines: string[] | Buffer, to: string[] = ['ada@to.test']): Promise<string> {
  const { port, service } = relay;
  const auth = { user: 'apikey', pass: service.one.secretKey };
  const client = nodemailer.createTransport({ host: '127.0.0.1', port, auth, ignoreTLS: true });
  const raw = Buffer.isBuffer(lines) ? lines : Buffer.from(lines.join('\r\n'), 'latin1');
  return client.sendMail({ envelope: { from: 'hello@sender.test', to }, raw }).then(
    ({ response }) => response,
    (error: { response?: string }) => error.response ?? String(error),
  );
}

async function sendAndReadPassedOn(lines: string[] | Buffer): Promise<{ head: string; body: string; raw: string }> {
  expect(await sendRaw(lines)).toMatch(/^250 2\.0\.0 /);
  // The sink stores messages as on the wire, with doubled dots.
  const raw = ((await relay.waitForEmails())[0] ?? '').replaceAll('\r\n..', '\r\n.');
  expect(await listSignatures(raw)).toEqual(['pass sender.test']);
  const at = raw.indexOf('\r\n\r\n');
  return { head: raw.slice(0, at + 2), body: raw.slice(at + 4), raw };
}

/** Returns a receiver's result for each signature. The receiver's DNS has the record that the service shows. */
async function listSignatures(raw: string): Promise<string[]> {
  const resolver = async (name: string): Promise<string[][]> => {
    if (name === 'tidings._domainkey.sender.test') return [[formatDkimRecord(relay.publicKey)]];
    throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' });
  };
  const { results } = await dkimVerify(Buffer.from(raw, 'latin1'), { resolver });
  return results.map(({ status, signingDomain }) => `${status.result} ${signingDomain}`);
}

const getBody = (lines: string[]) => lines.slice(lines.indexOf('') + 1).join('\r\n');

async function setTracking(tracking: 'ENABLED' | 'DISABLED'): Promise<void> {
  await sql`UPDATE projects SET tracking = ${tracking} WHERE id = ${relay.service.one.id}`.execute(relay.service.db);
}

const SIGNED_TEXT = [
  'Content-Type: text/html; charset=us-ascii',
  '',
  '<p>Signed  <a href="https://a.example">a</a> ',
  '',
];

const STRUCTURES: Record<string, string[]> = {
  'S/MIME signed': [
    'Content-Type: multipart/signed; protocol="application/pkcs7-signature"; micalg=sha-256; boundary="b1"',
    '',
    'This is a cryptographically signed message.',
    '--b1',
    ...SIGNED_TEXT,
    '--b1',
    'Content-Type: application/pkcs7-signature; name=smime.p7s',
    'Content-Transfer-Encoding: base64',
    '',
    'MIIB',
    '--b1--',
    '',
  ],
  'S/MIME encrypted': [
    'Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m',
    'Content-Transfer-Encoding: base64',
    'Content-Disposition: attachment; filename=smime.p7m',
    '',
    'MIIBHgYJKoZIhvcNAQcDoIIBDzCCAQsCAQAxgcAwgb0CAQAwJjASMRAwDgYDVQQDEwdDYXJsUlNB',
    '',
  ],
  'PGP encrypted': [
    'Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary=b2',
    '',
    '--b2',
    'Content-Type: application/pgp-encrypted',
    '',
    'Version: 1',
    '--b2',
    'Content-Type: application/octet-stream',
    '',
    '-----BEGIN PGP MESSAGE-----',
    '',
    'hQEM',
    '-----END PGP MESSAGE-----',
    '--b2--',
    '',
  ],
  'a report': [
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b3',
    '',
    '--b3',
    '',
    'It did not arrive.',
    '--b3',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mail.example.com',
    '',
    'Final-Recipient: rfc822; a@b.example',
    '--b3--',
    '',
  ],
  'an invitation (iMIP)': [
    'Content-Type: multipart/alternative; boundary=b4',
    '',
    '--b4',
    'Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes',
    '',
    'Meet me ',
    'at nine',
    '--b4',
    'Content-Type: text/calendar; method=REQUEST; charset=utf-8; component=VEVENT',
    '',
    'BEGIN:VCALENDAR',
    'END:VCALENDAR',
    '--b4--',
    '',
  ],
  'plain text, format=flowed': [
    'Content-Type: text/plain; charset=iso-8859-1; format=flowed',
    'Content-Transfer-Encoding: 8bit',
    '',
    'Gr\xfc\xdfe ',
    'aus  K\xf6ln',
    '.a dot',
    '',
  ],
  'an attached message': [
    'Content-Type: multipart/mixed; boundary=b5',
    '',
    '--b5',
    'Content-Type: text/plain',
    '',
    'See below',
    '--b5',
    'Content-Type: message/rfc822',
    'Content-Disposition: attachment; filename="old.eml"',
    '',
    'From: x@y.example',
    'Subject: Old',
    'Content-Type: text/html',
    '',
    '<a href="https://old.example">old</a>',
    '--b5--',
    '',
  ],
  'a file with a charset and both kinds of names': [
    'Content-Type: multipart/mixed; boundary="b=_6"',
    '',
    '--b=_6',
    'Content-Type: text/plain',
    '',
    'See the file',
    '--b=_6',
    'Content-Type: text/csv; charset=windows-1252; name="=?utf-8?Q?Gr=C3=BC=C3=9Fe.csv?="',
    "Content-Disposition: attachment; filename*=utf-8''Gr%C3%BC%C3%9Fe.csv",
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'a;b=FC',
    '--b=_6--',
    'An epilogue.',
    '',
  ],
};

describe.each(['ENABLED', 'DISABLED'] as const)('the SMTP relay, with tracking %s,', (tracking) => {
  beforeAll(() => setTracking(tracking));

  it.each(Object.entries(STRUCTURES))('passes on %s byte for byte', async (_, structure) => {
    const { head, body } = await sendAndReadPassedOn([...HEAD, ...structure]);
    expect(body).toBe(getBody(structure));
    const written = [...HEAD, ...structure.slice(0, structure.indexOf(''))];
    expect(head.split('\r\n')).toEqual(expect.arrayContaining(written));
  });
});

const AMP = [
  'Content-Type: multipart/mixed; boundary=m',
  '',
  '--m',
  'Content-Type: multipart/related; boundary=r',
  '',
  '--r',
  'Content-Type: multipart/alternative; boundary=a',
  '',
  '--a',
  'Content-Type: text/plain; charset=us-ascii; format=flowed',
  '',
  'Hello https://shop.example/plain',
  '--a',
  'Content-Type: text/x-amp-html',
  '',
  '<!doctype html><html amp4email><a href="https://shop.example/amp">x</a></html>',
  '--a',
  'Content-Type: text/html; charset="iso-8859-1"; x=y',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  '<html><body><p>Gr=FC=DFe {{name}}</p><a href=3D"https://shop.example/html">x</a><img src=3D"cid:logo"></body></html>',
  '--a--',
  '--r',
  'Content-Type: image/png; name=logo.png',
  'Content-ID: <logo>',
  'Content-Disposition: inline; filename=logo.png',
  'Content-Transfer-Encoding: base64',
  '',
  'iVBORw0KGgo=',
  '--r--',
  '--m--',
  '',
];

it('the SMTP relay adds tracking to HTML that is not signed, and keeps everything else byte for byte', async () => {
  await setTracking('ENABLED');
  const { body, raw } = await sendAndReadPassedOn([...HEAD, ...AMP]);
  const html = AMP.indexOf('Content-Type: text/html; charset="iso-8859-1"; x=y');
  expect(body.startsWith(getBody(AMP.slice(0, html)))).toBe(true);
  expect(body.endsWith(AMP.slice(html + 4).join('\r\n'))).toBe(true);
  const parsed = await PostalMime.parse(Buffer.from(raw, 'latin1'));
  expect(parsed.html).toContain('<p>Grüße {{name}}</p>');
  expect(parsed.html).toMatch(/<a href="http[^"]*\/c\/[^"]*"/);
  expect(parsed.html).toContain('cid:logo');
  expect(parsed.html).toMatch(/<img[^>]* (width|height)="1"/);
  expect(parsed.text).toContain('https://shop.example/plain');
});

it('the SMTP relay does not change HTML if the project has tracking off', async () => {
  await setTracking('DISABLED');
  const { body } = await sendAndReadPassedOn([...HEAD, ...AMP]);
  expect(body).toBe(getBody(AMP));
});

describe('header fields of a relayed message', () => {
  it('do not change, even if a name occurs twice, and message ids are never folded', async () => {
    const createMessageId = (n: number) => `<${'x'.repeat(90)}.${n}=?utf-8?@mail.example.com>`;
    const written = [
      'Message-ID: <app.1$@sender.test>',
      'Date: Thu, 26 Nov 2026 10:00:00 +0100',
      `In-Reply-To: ${createMessageId(1)}`,
      `References: ${createMessageId(1)}\r\n ${createMessageId(2)}\r\n\t${createMessageId(3)}`,
      'Cc: "B, C" <b@to.test>, undisclosed: c@to.test;',
      'Reply-To: One <one@sender.test>, two@elsewhere.test',
      'X-Tag: a',
      'X-Tag: b',
      'List-Unsubscribe: <mailto:out@sender.test>, <https://app.example/out?u=1>',
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
      'Content-Language: de',
      'Auto-Submitted: auto-generated',
      'Received: from app by mx.sender.test; Thu, 26 Nov 2026 09:59:00 +0000',
    ];
    const { head } = await sendAndReadPassedOn([...HEAD, ...written, '', 'Hello', '']);
    for (const field of written) expect(head).toContain(`${field}\r\n`);
    expect(head.match(/^message-id:/gim)).toHaveLength(1);
    expect(head).toMatch(/^Received: by /m);
  });

  it('get a Message-ID and a Date if these are missing or invalid', async () => {
    const { head } = await sendAndReadPassedOn([...HEAD, 'Message-ID: not an id', '', 'Hello', '']);
    expect(head).toMatch(/^Message-ID: <[0-9a-f-]{36}@sender\.test>\r$/m);
    expect(head).toMatch(/^Date: /m);
    expect(head).not.toContain('not an id');
  });

  it.each(['<app.1@sender.test> (made by the app)', '<"app 1"@sender.test>', '<app.1@[192.0.2.1]>'])(
    'keep the valid message id %s',
    async (id) => {
      const { head } = await sendAndReadPassedOn([...HEAD, `Message-ID: ${id}`, '', 'Hello', '']);
      expect(head).toContain(`Message-ID: ${id}\r\n`);
      expect(head.match(/^message-id:/gim)).toHaveLength(1);
    },
  );

  it('get a message id in ASCII', async () => {
    const { head } = await sendAndReadPassedOn([...HEAD, 'Message-ID: <grüße.1@sender.test>', '', 'Hello', '']);
    expect(head).toMatch(/^Message-ID: <[0-9a-f-]{36}@sender\.test>\r$/m);
  });

  it('never include Bcc', async () => {
    const { raw } = await sendAndReadPassedOn([...HEAD, 'Bcc: hidden@to.test,', '  other@to.test', '', 'Hello', '']);
    expect(raw).not.toMatch(/hidden|other@/);
  });

  it('with raw UTF-8 are encoded', async () => {
    const head = ['From: Grüße <hello@sender.test>', 'To: Łódź <ada@to.test>', 'Subject: Grüße', '', 'x', ''];
    const { raw } = await sendAndReadPassedOn(Buffer.from(head.join('\r\n'), 'utf8'));
    expect(raw).toMatch(/^[\x20-\x7e\r\n\t]*$/);
    const parsed = await PostalMime.parse(raw);
    expect([parsed.subject, parsed.from?.name, parsed.to?.[0]?.name]).toEqual(['Grüße', 'Grüße', 'Łódź']);
  });

  it('with raw UTF-8 beside encoded words are encoded once', async () => {
    const head = [
      ...HEAD.filter((line) => !line.startsWith('Subject')),
      'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= aus Łódź',
    ];
    const { raw } = await sendAndReadPassedOn(Buffer.from([...head, '', 'x', ''].join('\r\n'), 'utf8'));
    expect((await PostalMime.parse(raw)).subject).toBe('Grüße aus Łódź');
  });
});

describe('a line of more than 998 octets in the body of a relayed message', () => {
  const long = `${'word '.repeat(400)}ü`;

  it('is encoded in an unsigned part', async () => {
    await setTracking('DISABLED');
    const lines = [...HEAD, 'Content-Type: text/plain; charset=utf-8', '', long, ''];
    const { raw } = await sendAndReadPassedOn(Buffer.from(lines.join('\r\n'), 'utf8'));
    expect(raw.split('\r\n').every((line) => line.length <= 998)).toBe(true);
    expect((await PostalMime.parse(raw)).text?.trim()).toBe(long);
  });

  it('is refused in a signed part', async () => {
    const signed = STRUCTURES['S/MIME signed']?.map((line) => (line.startsWith('<p>') ? long : line)) ?? [];
    expect(await sendRaw([...HEAD, ...signed])).toMatch(/^554 5\.6\.0 .*multipart\/signed.*998/);
  });
});

describe('a line of more than 998 octets outside the bodies of parts of a relayed message', () => {
  const word = 'x'.repeat(1_100);
  const createMultipart = (p: { preamble?: string; header?: string; epilogue?: string }) => [
    ...HEAD,
    'Content-Type: multipart/mixed; boundary=o',
    '',
    p.preamble ?? 'A preamble.',
    '--o',
    `Content-Type: text/plain; x=${p.header ?? 'y'}`,
    '',
    'Hello',
    '--o--',
    p.epilogue ?? '',
    '',
  ];

  it.each([
    ['a preamble', createMultipart({ preamble: word })],
    ['an epilogue', createMultipart({ epilogue: word })],
    ['the header of a part', createMultipart({ header: word })],
    ['a header field without a space', [...HEAD, `X-Long: ${word}`, '', 'Hello', '']],
  ])('is refused in %s', async (_, lines) => {
    expect(await sendRaw(lines)).toMatch(/^554 5\.6\.0 .*998 octets/);
  });

  it('is refused if the boundary of its multipart is missing, and in an unknown encoding', async () => {
    expect(await sendRaw([...HEAD, 'Content-Type: multipart/mixed', '', '--o', '', word, ''])).toMatch(
      /^554 5\.6\.0 .*multipart\/mixed/,
    );
    expect(await sendRaw([...HEAD, 'Content-Transfer-Encoding: x-uuencode', '', word, ''])).toMatch(
      /^554 5\.6\.0 .*text\/plain/,
    );
  });

  it.each([
    ["Content-Type: multipart/mixed; boundary*=us-ascii''o%20o", 'o o'],
    ['Content-Type: multipart/mixed; boundary*0="o-"; boundary*1=o', 'o-o'],
    ["Content-Type: multipart/mixed; boundary*1=o;\r\n boundary*0*=''o%2D", 'o-o'],
  ])('is encoded in a part whose boundary is given by %j', async (type, boundary) => {
    const { body } = await sendAndReadPassedOn([
      ...HEAD,
      type,
      '',
      `--${boundary}`,
      '',
      `${word} `,
      `--${boundary}--`,
      '',
    ]);
    expect(body).toMatch(new RegExp(`^--${boundary}\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nx`));
    expect(body).toMatch(new RegExp(`\r\n--${boundary}--\r\n$`));
  });
});

describe('a lone CR or LF in a relayed message', () => {
  const signed = STRUCTURES['S/MIME signed'] ?? [];

  /** Sends a message byte for byte, because client libraries correct line ends. Returns the last reply. */
  async function sendBytes(message: string): Promise<string> {
    const login = Buffer.from(`\0apikey\0${relay.service.one.secretKey}`).toString('base64');
    const steps = [
      'EHLO app.test\r\n',
      `AUTH PLAIN ${login}\r\n`,
      'MAIL FROM:<hello@sender.test>\r\n',
      'RCPT TO:<ada@to.test>\r\n',
      'DATA\r\n',
      `${message}.\r\n`,
    ];
    const socket = connect(relay.port, '127.0.0.1');
    let reply = '';
    for await (const chunk of socket.setEncoding('latin1')) {
      reply += chunk;
      if (!/^\d{3} .*\r\n$/m.test(reply)) continue;
      const step = steps.shift();
      if (step === undefined) break;
      reply = '';
      socket.write(step, 'latin1');
    }
    return reply;
  }

  it.each(['\n', '\r'])('is refused in a signed part: %j', async (newline) => {
    const lines = signed.map((line) => (line.startsWith('<p>') ? `a${newline}b` : line));
    expect(await sendBytes([...HEAD, ...lines, ''].join('\r\n'))).toMatch(
      /^554 5\.6\.0 .*multipart\/signed.*lone CR or LF/,
    );
  });

  it('becomes CRLF in other parts', async () => {
    expect(await sendBytes([...HEAD, '', 'a\nb\rc', ''].join('\r\n'))).toMatch(/^250 /);
    expect((await relay.waitForEmails())[0]).toMatch(/\r\n\r\na\r\nb\r\nc\r\n$/);
  });
});

it('the SMTP relay passes on a large message byte for byte, and refuses one with a line of 999 octets', async () => {
  const lines = Array.from({ length: 8_000 }, (_, n) => `${n} ${'line '.repeat(10)}`);
  const { body } = await sendAndReadPassedOn([...HEAD, '', ...lines, '']);
  expect(body).toBe([...lines, ''].join('\r\n'));
  expect(await sendRaw([...HEAD, 'Content-Type: message/rfc822', '', ...lines, 'x'.repeat(999)])).toMatch(
    /^554 5\.6\.0 /,
  );
});

describe('nested parts of a relayed message', () => {
  const createNestedMultipart = (levels: number): string[] => {
    const open = Array.from({ length: levels }, (_, n) => [
      ...(n === 0 ? [] : [`--n${n - 1}x`]),
      `Content-Type: multipart/mixed; boundary=n${n}x`,
      '',
    ]);
    const close = Array.from({ length: levels }, (_, n) => `--n${levels - 1 - n}x--`);
    return [...open.flat(), `--n${levels - 1}x`, 'Content-Type: text/plain', '', 'Deep', ...close, ''];
  };

  it('are passed on byte for byte, up to 29 levels', async () => {
    await setTracking('ENABLED');
    const { body } = await sendAndReadPassedOn([...HEAD, ...createNestedMultipart(29)]);
    expect(body).toBe(getBody(createNestedMultipart(29)));
  });

  it.each([31, 60, 1_000])('are refused with the reason at %i levels', async (levels) => {
    expect(await sendRaw([...HEAD, ...createNestedMultipart(levels)])).toMatch(/^554 5\.6\.0 .*nest/i);
    expect(relay.sink.bodies).toEqual([]);
  });
});

it('the SMTP relay refuses more attachments than an email may have (contract §9.11 Headers and attachments)', async () => {
  const file = (n: number) => ['--f', `Content-Disposition: attachment; filename=${n}.txt`, '', 'x'];
  const createMessageWithFiles = (count: number) => [
    ...HEAD,
    'Content-Type: multipart/mixed; boundary=f',
    '',
    ...Array.from({ length: count }, (_, n) => file(n)).flat(),
    '--f--',
  ];
  expect(await sendRaw(createMessageWithFiles(10))).toMatch(/^250 /);
  expect(await sendRaw(createMessageWithFiles(11))).toMatch(/^554 5\.6\.0 .*10 attachments/);
});

it('the SMTP relay refuses a message with two authors', async () => {
  expect(await sendRaw(['From: a@sender.test, b@elsewhere.test', ...HEAD.slice(1), '', 'x'])).toMatch(/^554 5\.6\.0 /);
  expect(await sendRaw([...HEAD, 'From: b@elsewhere.test', '', 'x'])).toMatch(/^554 5\.6\.0 /);
});
