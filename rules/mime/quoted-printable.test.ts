import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeHtml } from '../content/plain-value.ts';
import { encodeQuotedPrintable, isSafeValue, QuotedPrintableWriter } from './quoted-printable.ts';

function decode(encoded: string): string {
  const bytes = encoded
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

function expectCanonical(encoded: string): void {
  expect(encoded).not.toMatch(/[^\x20-\x7e\r\n]/);
  for (const line of encoded.split('\r\n')) {
    expect(line.length).toBeLessThanOrEqual(76);
    expect(line).not.toMatch(/[\r\n]|^\.| {2}| $/);
  }
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.string({ unit: fc.constantFrom(' ', '.', '\n', '\r\n', '=', 'a', 'é', '\t', '🎉'), maxLength: 400 }),
);

describe('quoted-printable', () => {
  it.each([
    ['a=b', 'a=3Db'],
    ['.dot', '=2Edot'],
    ['a  b ', 'a =20b=20'],
    ['a \nb', 'a=20\r\nb'],
    ['\t', '=09'],
    ['é', '=C3=A9'],
  ])('in quoted-printable %j is %j', (plain, encoded) => {
    expect(encodeQuotedPrintable(plain)).toBe(encoded);
  });

  it('decodes to the text and is in canonical form', () => {
    fc.assert(
      fc.property(text, (plain) => {
        const encoded = encodeQuotedPrintable(plain);
        expectCanonical(encoded);
        expect(decode(encoded)).toBe(Buffer.from(plain.replace(/\r\n|\r|\n/g, '\r\n')).toString());
      }),
    );
  });

  it('is also in canonical form if it is written in pieces, with soft line breaks and reserved space between them', () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), fc.nat(60), (pieces, room) => {
        const writer = new QuotedPrintableWriter();
        let encoded = '';
        for (const piece of pieces)
          encoded += writer.writeText(piece).reserve(room).take() + 'x'.repeat(room) + writer.addSoftBreak().take();
        expectCanonical(encoded);
      }),
    );
  });

  it('does not change a safe value', () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: fc.constantFrom('a', ' ', '.', '-', '9', '<') })), (value) => {
        if (isSafeValue(value)) expect([encodeQuotedPrintable(value), escapeHtml(value)]).toEqual([value, value]);
      }),
    );
    expect(isSafeValue('Ada Lovelace')).toBe(true);
    expect(isSafeValue('.x') || isSafeValue('a  b') || isSafeValue('a ') || isSafeValue('x'.repeat(76))).toBe(false);
  });
});
