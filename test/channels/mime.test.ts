import PostalMime from 'postal-mime';
import { describe, expect, it } from 'vitest';
import { buildMessage, type MessageParts } from '../../channels/email/mime.ts';

const PIXEL = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=', 'base64');

function createParts(over: Partial<MessageParts> = {}): MessageParts {
  return {
    from: { name: 'Shop', address: 'shop@example.com' },
    to: { address: 'ann@example.org' },
    subject: 'Your order',
    html: '<p>Thank you</p>',
    text: 'Thank you',
    messageId: '<018f@example.com>',
    date: new Date('2026-03-02T10:00:00Z'),
    ...over,
  };
}

async function buildAndParse(over: Partial<MessageParts> = {}) {
  const raw = (await buildMessage(createParts(over))).toString('latin1');
  const parsed = await PostalMime.parse(Buffer.from(raw, 'latin1'));
  return { raw, parsed, headers: raw.slice(0, raw.indexOf('\r\n\r\n')) };
}

describe('a composed message', () => {
  it('is parsed by other programs with the same content', async () => {
    const { parsed } = await buildAndParse({ replyTo: [{ name: 'Help', address: 'help@example.com' }] });
    expect(parsed).toMatchObject({
      from: { name: 'Shop', address: 'shop@example.com' },
      to: [{ address: 'ann@example.org' }],
      replyTo: [{ name: 'Help', address: 'help@example.com' }],
      subject: 'Your order',
      messageId: '<018f@example.com>',
    });
    expect(parsed.html?.trim()).toBe('<p>Thank you</p>');
    expect(parsed.text?.trim()).toBe('Thank you');
    expect(new Date(parsed.date ?? '').toISOString()).toBe('2026-03-02T10:00:00.000Z');
  });

  it('is the same on every attempt except for MIME boundaries', async () => {
    const hideBoundaries = (raw: string) => raw.replace(/--_NmP-[^\s"]+/g, 'boundary');
    expect(hideBoundaries((await buildAndParse()).raw)).toBe(hideBoundaries((await buildAndParse()).raw));
  });

  it('keeps names and subjects in any script', async () => {
    const { parsed, raw } = await buildAndParse({
      from: { name: 'Jörg "JM" Müller, Ltd.', address: 'jm@example.com' },
      to: { name: '山田太郎', address: 'taro@example.org' },
      subject: 'Grüße 🎉 und 日本語',
      text: 'Grüße 🎉',
      html: '<p>日本語</p>',
    });
    expect(parsed.from?.name).toBe('Jörg "JM" Müller, Ltd.');
    expect(parsed.to?.[0]?.name).toBe('山田太郎');
    expect(parsed.subject).toBe('Grüße 🎉 und 日本語');
    expect(parsed.text?.trim()).toBe('Grüße 🎉');
    expect(parsed.html?.trim()).toBe('<p>日本語</p>');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is a range that holds control characters
    expect(raw).toMatch(/^[\x00-\x7f]*$/);
  });

  it('contains attachments byte for byte, and inline images by their content id', async () => {
    const bytes = Buffer.from(Array.from({ length: 1024 }, (_, i) => i % 256));
    const { parsed } = await buildAndParse({
      html: '<img src="cid:logo">',
      attachments: [
        { filename: 'Rechnung März.pdf', contentType: 'application/pdf', content: bytes },
        { filename: 'logo.gif', contentType: 'image/gif', content: PIXEL, disposition: 'inline', contentId: 'logo' },
      ],
    });
    const [invoice, logo] = ['attachment', 'inline'].map((d) => parsed.attachments.find((a) => a.disposition === d));
    expect(invoice).toMatchObject({ filename: 'Rechnung März.pdf', mimeType: 'application/pdf' });
    expect(Buffer.from(invoice?.content as ArrayBuffer)).toEqual(bytes);
    expect(logo).toMatchObject({ mimeType: 'image/gif', contentId: '<logo>' });
    expect(Buffer.from(logo?.content as ArrayBuffer)).toEqual(PIXEL);
  });

  it('has the headers of one-click unsubscribe', async () => {
    const { headers } = await buildAndParse({
      headers: [
        ['List-Unsubscribe', '<https://example.com/u/1>, <mailto:u@example.com>'],
        ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
      ],
    });
    expect(headers).toContain('List-Unsubscribe: <https://example.com/u/1>, <mailto:u@example.com>');
    expect(headers).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click');
  });

  it('has no line over 998 octets, no bare line end, and the whole of a long subject', async () => {
    const subjects = ['x'.repeat(3000), 'word '.repeat(500).trim(), 'ü'.repeat(2000), `a ${'🎉'.repeat(600)} b`];
    for (const subject of subjects) {
      const { raw, parsed } = await buildAndParse({
        subject,
        html: `<p>${'long'.repeat(2000)}</p>\n.\n`,
        text: `${'y'.repeat(5000)}\nline\r\nother\rlast`,
        headers: [['X-Long', 'z'.repeat(2500)]],
      });
      expect(parsed.subject).toBe(subject);
      expect(Math.max(...raw.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
      expect(raw.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    }
  });

  it('has no bare line end with an attached email either', async () => {
    const content = Buffer.from('From: a@example.com\nSubject: old\n\nbody\n');
    const { raw } = await buildAndParse({
      attachments: [{ filename: 'old.eml', contentType: 'message/rfc822', content }],
    });
    expect(raw.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  });

  it.each([
    ['a line of more than 998 octets', `Subject: x\n\n${'q'.repeat(1200)}`],
    ['a line that a lone CR does not end soon enough', `Subject: x\r\n\r\n${'q'.repeat(999)}\rq`],
    ['a NUL octet', 'Subject: x\r\n\r\nq\0q'],
  ])('has an attached email as a file in base64 if it has %s', async (_name, text) => {
    const content = Buffer.from(text);
    const attachments = [{ filename: 'm.eml', contentType: 'Message/RFC822', content }];
    const { raw, parsed } = await buildAndParse({ attachments });
    expect(Math.max(...raw.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
    expect(raw).not.toContain('\0');
    expect(parsed.attachments).toMatchObject([{ filename: 'm.eml', mimeType: 'application/octet-stream' }]);
    expect(Buffer.from(parsed.attachments[0]?.content as ArrayBuffer)).toEqual(content);
  });

  it('has an attached email with lines of 998 octets as an email', async () => {
    const content = Buffer.from(`Subject: x\n\n${'q'.repeat(998)}\n${'q'.repeat(998)}`);
    const { raw } = await buildAndParse({
      attachments: [{ filename: 'm.eml', contentType: 'message/rfc822', content }],
    });
    expect(raw).toContain('\r\nContent-Type: message/rfc822\r\n');
  });

  it.each(['Ü 1.pdf', `${'長い'.repeat(60)}.pdf`, 'a "b" \\ (c); d=e.pdf', 'a.pdf'])(
    'has the name of a file only in Content-Disposition, which may encode it: %s',
    async (filename) => {
      const attachments = [{ filename, contentType: 'application/pdf', content: PIXEL }];
      const { parsed, raw } = await buildAndParse({ attachments });
      expect(parsed.attachments[0]?.filename).toBe(filename);
      expect(raw).toContain('\r\nContent-Type: application/pdf\r\n');
    },
  );

  it('does not treat an attached file as parts of the message', async () => {
    const attachments = [{ filename: 'a', contentType: 'multipart/mixed; boundary=x', content: PIXEL }];
    const { parsed } = await buildAndParse({ attachments });
    expect(Buffer.from(parsed.attachments[0]?.content as ArrayBuffer)).toEqual(PIXEL);
  });

  it.each<[string, Partial<MessageParts>]>([
    ['subject', { subject: 'Hi\r\nBcc: eve@example.net' }],
    ['sender name', { from: { name: 'A\r\nBcc: eve@example.net', address: 'a@example.com' } }],
    ['sender address', { from: { address: 'a@example.com\r\nBcc: eve@example.net' } }],
    ['reply address', { replyTo: [{ address: 'a@example.com\nBcc: eve@example.net' }] }],
    ['header value', { headers: [['X-A', 'b\r\nBcc: eve@example.net']] }],
    ['header name', { headers: [['X-A: b\r\nBcc', 'eve@example.net']] }],
    ['message id', { messageId: '<1@example.com>\r\nBcc: eve@example.net' }],
    [
      'file name',
      { attachments: [{ filename: 'a\r\nBcc: eve@example.net', contentType: 'text/plain', content: PIXEL }] },
    ],
    [
      'content type',
      { attachments: [{ filename: 'a', contentType: 'text/plain\r\nBcc: eve@example.net', content: PIXEL }] },
    ],
    ['Bcc header', { headers: [['Bcc', 'eve@example.net']] }],
  ])('cannot get another header through its %s', async (_name, over) => {
    const { raw } = await buildAndParse(over);
    expect(raw).not.toMatch(/^bcc:/im);
  });

  it('is composed without reading files or fetching URLs', async () => {
    const { parsed } = await buildAndParse({
      html: '<img src="/etc/passwd"><img src="file:///etc/passwd"><img src="data:image/gif;base64,AAAA">',
      attachments: [{ filename: '/etc/passwd', contentType: 'text/plain', content: Buffer.from('mine') }],
    });
    expect(Buffer.from(parsed.attachments[0]?.content as ArrayBuffer).toString()).toBe('mine');
    expect(parsed.attachments).toHaveLength(1);
    expect(parsed.html).toContain('file:///etc/passwd');
  });
});
