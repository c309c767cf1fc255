import fc from 'fast-check';
import PostalMime from 'postal-mime';
import { describe, expect, it } from 'vitest';
import { formatMailbox, formatMailboxHeader, formatMailDate, formatTextHeader, toSingleLine } from './mime-headers.ts';

const parseHeaders = (headers: string) => PostalMime.parse(`${headers}\r\nbody`);
const expectLines = (header: string) => {
  expect(header).toMatch(/^[\x20-\x7e\r\n]*\r\n$/);
  const lines = header.slice(0, -2).split('\r\n');
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(998);
  for (const line of lines.slice(1)) expect(line).toMatch(/^ \S/);
};

describe('free text in a header', () => {
  it('does not change when it is short and ASCII', () => {
    expect(formatTextHeader('Subject', 'Welcome, Ada')).toBe('Subject: Welcome, Ada\r\n');
  });

  it('cannot add another header', () => {
    expect(formatTextHeader('Subject', 'a\r\nBcc: x@example.com')).toBe('Subject: a Bcc: x@example.com\r\n');
    expect(() => formatTextHeader('X: y\r\nBcc', 'z')).toThrow(RangeError);
  });

  it('folds lines at 78 characters if possible, and no line has more than 998', () => {
    const header = formatTextHeader('Subject', 'word '.repeat(150));
    for (const line of header.split('\r\n')) expect(line.length).toBeLessThanOrEqual(78);
    expectLines(formatTextHeader('Subject', 'x'.repeat(998)));
  });

  it('is parsed to the same text, with any characters', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ unit: 'grapheme', maxLength: 200 }),
          fc.string({ unit: fc.constantFrom('a', ' ', 'é', '🎉', '=?', '\n'), maxLength: 300 }),
        ),
        async (text) => {
          const header = formatTextHeader('Subject', text);
          expectLines(header);
          const read = (await parseHeaders(header)).subject ?? '';
          expect(read.replace(/\s+/g, ' ')).toBe(toSingleLine(text).replace(/\s+/g, ' '));
        },
      ),
    );
  });
});

describe('a mailbox', () => {
  it.each([
    [{ email: 'a@example.com' }, 'a@example.com'],
    [{ name: 'Ada', email: 'a@example.com' }, 'Ada <a@example.com>'],
    [{ name: 'Ada "Countess" L.', email: 'a@example.com' }, '"Ada \\"Countess\\" L." <a@example.com>'],
    [{ name: 'Zoë', email: 'z@exämple.com' }, '=?utf-8?B?Wm/Dqw==?= <z@xn--exmple-cua.com>'],
    [{ name: 'a\r\nBcc: x', email: 'a@example.com>\r\nBcc: y' }, '"a Bcc: x" <a@example.comBcc:y>'],
  ])('a mailbox in a header: %j', (mailbox, expected) => {
    expect(formatMailbox(mailbox)).toBe(expected);
  });

  it('with a local part outside ASCII is written to its header as UTF-8', () => {
    const header = formatMailboxHeader('To', { email: 'jörg.山田@bücher.example' });
    expect(Buffer.from(header, 'latin1').toString()).toBe('To: jörg.山田@xn--bcher-kva.example\r\n');
  });

  it('is parsed to the same name', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 120 }), async (name) => {
        const header = formatMailboxHeader('From', { name, email: 'a@example.com' });
        expectLines(header);
        const from = (await parseHeaders(header)).from;
        expect(from?.address).toBe('a@example.com');
        expect((from?.name ?? '').replace(/\s+/g, ' ')).toBe(toSingleLine(name).replace(/\s+/g, ' '));
      }),
    );
  });
});

it('a date has the form of RFC 5322, in UTC', () => {
  expect(formatMailDate(new Date('2026-11-21T08:09:10.999Z'))).toBe('Sat, 21 Nov 2026 08:09:10 +0000');
});
