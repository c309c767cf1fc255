import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import MailComposer from 'nodemailer/lib/mail-composer/index.js';
import PostalMime from 'postal-mime';
import { describe, expect, it } from 'vitest';
import { parseMime } from './mime-parser.ts';

const MEGABYTE = 1024 * 1024;

function compose(options: object): Promise<Buffer> {
  return new MailComposer({ from: 'a@example.com', to: 'b@example.com', ...options }).compile().build();
}

/** Parses in the main thread, as for small messages. */
const inPlace = (raw: Buffer) =>
  PostalMime.parse(raw, {
    forceRfc822Attachments: true,
    attachmentEncoding: 'arraybuffer',
    maxNestingDepth: 30,
    maxHeadersSize: 256 * 1024,
  });

describe('a large message', () => {
  it('is parsed in a thread with the same result as on the event loop', async () => {
    const quoted = await compose({ subject: 'Quoted', text: 'inner' });
    const raw = await compose({
      subject: 'Grüße',
      text: 'Zeile ä\n'.repeat(1_000),
      html: '<p>Grüße</p><img src="cid:logo">',
      headers: { 'X-Order': '4711' },
      attachments: [
        { filename: 'ä.bin', content: randomBytes(100_000) },
        { filename: 'ä.txt', content: 'ä'.repeat(10_000), contentType: 'text/plain; charset=utf-8' },
        { filename: 'logo.png', content: randomBytes(50), contentType: 'image/png', cid: 'logo' },
        { filename: 'q.eml', content: quoted, contentType: 'message/rfc822' },
      ],
    });
    // A part of a larger buffer, as a socket may return it.
    const slice = Buffer.concat([Buffer.from('before'), raw, Buffer.from('after')]).subarray(6, 6 + raw.length);
    expect(await parseMime(slice)).toEqual(await inPlace(raw));
    expect(slice.equals(raw)).toBe(true);
  });

  it('does not block: a later request gets its response before the message is read', async () => {
    const raw = await compose({ text: 'x', attachments: [{ filename: 'a', content: randomBytes(20 * MEGABYTE) }] });
    const server = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const order: string[] = [];
    const parsed = parseMime(raw).then(() => order.push('read'));
    const answered = fetch(url).then(() => order.push('answered'));
    await Promise.all([parsed, answered]);
    expect(order).toEqual(['answered', 'read']);
    server.closeAllConnections();
    server.close();
  });

  it('is rejected with the reason if it cannot be parsed, and the next message is parsed', async () => {
    const boundaries = Array.from(
      { length: 40 },
      (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`,
    );
    const nested = Buffer.from(`Subject: x\r\n${boundaries.join('')}${'x'.repeat(100_000)}`);
    const validMessage = await compose({ text: 'good'.repeat(20_000) });
    const [bad, read] = await Promise.allSettled([parseMime(nested), parseMime(validMessage)]);
    await expect(inPlace(nested)).rejects.toThrow();
    expect(bad).toMatchObject({ status: 'rejected', reason: expect.any(Error) });
    expect(read).toMatchObject({ status: 'fulfilled' });
  });
});

describe('text in Windows-1252', () => {
  const message = (size: number) =>
    Buffer.from(
      [
        'From: =?windows-1252?Q?Zo=EB_=96_Shop?= <zoe@example.com>',
        'Subject: =?iso-8859-1?Q?=93Tee=94_5_=80?=',
        'Content-Type: text/plain; charset=windows-1252',
        '',
        `\x93Tee\x94 5 \x80 \x85${' '.repeat(size)}`,
      ].join('\r\n'),
      'latin1',
    );

  it.each([0, 100_000])('keeps its quotes and euro signs, also with %i more bytes', async (size) => {
    const { from, subject, text } = await parseMime(message(size));
    expect([from?.name, subject, text?.trim()]).toEqual(['Zoë – Shop', '“Tee” 5 €', '“Tee” 5 € …']);
  });
});
