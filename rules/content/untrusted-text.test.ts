import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanEachText, cleanUntrustedPiece, cleanUntrustedSubject, cleanUntrustedText } from './untrusted-text.ts';

describe('untrusted text', () => {
  it.each([
    'Ada Lovelace',
    'J.R. Smith',
    "Zoë O'Neil-Smith, Jr.",
    '3.5 stars of 5.0',
    '$1,200.50 or 10.000,50 €',
    'at 10 a.m., at 10:30, on 24.12.2026',
    'Note: this/that, 5/10 & 50%',
    '2026-01-01T10:00:00.000Z',
    'version 1.2.3, v2.0beta, 1.2.3.4',
    'e.g. shoes… wait...what?',
    '@ada on stage, me + you',
    'ありがとう。また来ます',
    '谢谢。OK',
    '👨‍👩‍👧 family',
  ])('does not change untrusted text such as %s', (text) => {
    expect(cleanUntrustedText(text)).toBe(text);
  });

  it.each([
    'https://evil.example/login',
    'HTTPS://EVIL.EXAMPLE',
    'hxxp://evil',
    'ftp://1.2.3.4',
    'http:evil',
    'javascript:alert(1)',
    'mailto:a',
    'tel:+32123',
    '//evil.example/x',
    'www.evil',
    'evil.example',
    'EVIL.COM',
    'x.com',
    't.me/evil',
    'evil.example.',
    '(evil.example)',
    '"evil.example",',
    'evil.example:8080',
    'evil.example?a=b',
    'xn--e1afmkfd.xn--p1ai',
    'злой.рф',
    'évil.example',
    'Evil.Com/login',
    'ada@evil.example',
    'ada@[1.2.3.4]',
    '1.2.3.4/login',
    'ｅｖｉｌ．ｅｘａｍｐｌｅ',
    'evil。example',
    'evil․example',
    'evil\u200b.example',
    'ev\u00adil.example',
    'h\u2060ttps://evil',
    'x\u00adwww.evil',
    'evil[.]example',
    'evil(dot)example',
    'login:evil.example',
  ])('has %s removed, and a subject that contains it becomes empty', (link) => {
    expect(cleanUntrustedText(`see ${link} now`)).toBe('see now');
    expect(cleanUntrustedText(link)).toBe('');
    expect(cleanUntrustedSubject(`see ${link} now`)).toBe('');
  });

  it.each([
    ['I love it.Thanks', 'I love it. Thanks'],
    ['J.R.Smith', 'J. R. Smith'],
    ['привет.Как дела', 'привет. Как дела'],
    ['مرحبا.شكرا', 'مرحبا. شكرا'],
  ])('%s gets the missing space', (given, expected) => {
    expect(cleanUntrustedText(given)).toBe(expected);
    expect(cleanUntrustedSubject(given)).toBe(expected);
  });

  it('is one line, without characters that reverse adjacent text', () => {
    expect(cleanUntrustedText(' a\r\nb\tc\u2028d\u0000e\u202ef\u00a0g ')).toBe('a b c d ef g');
  });

  it('is 200 characters at most, and 40 in a subject', () => {
    expect(cleanUntrustedText('x'.repeat(201))).toBe(`${'x'.repeat(199)}…`);
    expect(cleanUntrustedText(`${'x'.repeat(198)}🎉🎉`)).toBe(`${'x'.repeat(198)}…`);
    expect(cleanUntrustedSubject('word '.repeat(20))).toBe(`${'word '.repeat(8).slice(0, 39).trim()}…`);
  });

  it('is cleaned in every part of a JSON value, including field names', () => {
    const value = { a: ['x evil.example', 7, null, true], 'evil.example': { b: 'ok' } };
    expect(cleanEachText(value, cleanUntrustedText)).toEqual({ a: ['x', 7, null, true], '': { b: 'ok' } });
  });
});

const texts = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.string({
    unit: fc.constantFrom('a', 'B', '.', ':', '/', '@', ' ', '1', '。', '\u200b', '-', 'ａ', '\n'),
    maxLength: 300,
  }),
  fc
    .array(
      fc.constantFrom('https://', 'www.', 'evil', '.', 'example', '/', ' ', 'x', 'ada@', '\u00ad', 'Evil', '(dot)'),
      {
        maxLength: 60,
      },
    )
    .map((parts) => parts.join('')),
);
/** Text that the simplest email client shows as a link. */
const LINKED = /https?:\/\/\S|(?<!\w)www\.\w|[\w-]+\.[a-z]{2,}\b/;

describe('any untrusted text', { timeout: 30_000 }, () => {
  it('is short, on one line, without a link, and does not change when it is cleaned again', () => {
    fc.assert(
      fc.property(texts, (text) => {
        for (const [clean, max] of [
          [cleanUntrustedText, 200],
          [cleanUntrustedSubject, 40],
          [cleanUntrustedPiece, 200],
        ] as const) {
          const shown = clean(text);
          expect(shown.length).toBeLessThanOrEqual(max);
          expect(shown).not.toMatch(/[\r\n\t\u2028\u2029\u202e]/);
          expect(shown.normalize('NFKC')).not.toMatch(LINKED);
          expect(clean(shown)).toBe(shown);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('forms no link with adjacent text', () => {
    fc.assert(
      fc.property(texts, texts, (left, right) => {
        expect(`${cleanUntrustedPiece(left)}${cleanUntrustedPiece(right)}`.normalize('NFKC')).not.toMatch(LINKED);
      }),
      { numRuns: 1_000 },
    );
  });
});
