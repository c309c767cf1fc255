import { describe, expect, it } from 'vitest';
import { normalizeEmail, parseMailbox, parseSender, toSearchForms } from './email-address.ts';

describe('parseMailbox', () => {
  it.each([
    ['ada@example.com', 'ada@example.com'],
    [' Ada.Lovelace@Example.COM ', 'ada.lovelace@example.com'],
    ['ivan@xn--e1afmkfd.xn--p1ai', 'ivan@xn--e1afmkfd.xn--p1ai'],
    ['ivan@пример.рф', 'ivan@xn--e1afmkfd.xn--p1ai'],
    ['info@münchen.example', 'info@xn--mnchen-3ya.example'],
    ['info@mu\u0308nchen.example', 'info@xn--mnchen-3ya.example'],
    ['o&m@example.org', 'o&m@example.org'],
    ['ref=7@example.org', 'ref=7@example.org'],
    ["!#$%&'*+-/=?^_`{|}~@example.org", "!#$%&'*+-/=?^_`{|}~@example.org"],
    ['"aaa..bbb"@example.jp', '"aaa..bbb"@example.jp'],
    ['"a@b <c>"@example.org', '"a@b <c>"@example.org'],
    ['"ada"@example.org', 'ada@example.org'],
    ['"a\\d\\"a"@example.org', '"ad\\"a"@example.org'],
    [`${'x'.repeat(64)}@example.org`, `${'x'.repeat(64)}@example.org`],
  ])('reads %s', (text, email) => {
    expect(parseMailbox(text)).toEqual({ ok: true, email, name: null });
    expect(normalizeEmail(email)).toBe(email);
  });

  it.each([
    ['Shop <shop@example.com>', 'Shop'],
    ['"Shop, Inc." <shop@example.com>', 'Shop, Inc.'],
    ['Shop, Inc. <shop@example.com>', 'Shop, Inc.'],
    ['"Ada \\"Queen\\" <3" <shop@example.com>', 'Ada "Queen" <3'],
    ['<shop@example.com>', null],
    ['shop@example.com <shop@example.com>', 'shop@example.com'],
  ])('reads the display name of %s', (text, name) => {
    expect(parseMailbox(text)).toEqual({ ok: true, email: 'shop@example.com', name });
  });

  it.each([
    ['ada', 'Must be an email address'],
    ['@example.com', 'Must be an email address'],
    ['ada@', 'The part after the @ must be a domain name'],
    ['ada@localhost', 'The part after the @ must be a domain name such as example.com'],
    ['ada@example.com.', 'The part after the @ must be a domain name'],
    ['ada@127.0.0.1', 'The part after the @ must be a domain name'],
    ['ada@0x7f.1', 'The part after the @ must be a domain name'],
    ['ada@ex%61mple.com', 'The part after the @ must be a domain name'],
    ['ada@-example.com', 'The part after the @ must be a domain name'],
    ['ada@[192.0.2.1]', 'not an IP address'],
    ['aaa..bbb@example.jp', '"aaa..bbb"@…'],
    ['.ada@example.jp', '".ada"@…'],
    ['ädä@example.com', 'SMTPUTF8'],
    ['ada lovelace@example.com', 'Must be an email address'],
    ['"ada\n"@example.com', 'Must be an email address'],
    [`${'x'.repeat(65)}@example.org`, 'At most 64 characters'],
    [`ada@${'x'.repeat(63)}.${'x'.repeat(63)}.${'x'.repeat(63)}.${'x'.repeat(60)}.org`, 'at most 255 bytes'],
    ['ada@example.com, bob@example.com', 'Must be an email address'],
    ['ada@example.com, Bob <bob@example.com>', 'one address'],
    ['Ada\r\nBcc: x <ada@example.com>', 'one address'],
  ])('refuses %s and says why', (text, reason) => {
    expect(parseMailbox(text)).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });
});

describe('parseSender', () => {
  it.each([
    ['Ada@Example.com', 'ada@example.com'],
    ['用户@例え.jp', '用户@xn--r8jz45g.jp'],
    ['ädä@example.com', 'ädä@example.com'],
    ['aaa..bbb@docomo.example', '"aaa..bbb"@docomo.example'],
    ['a b@example.com', '"a b"@example.com'],
    ['a"b@example.com', '"a\\"b"@example.com'],
    ['ä b@example.com', undefined],
    ['@example.com', undefined],
    ['mailer-daemon', undefined],
  ])('reads the sender %s as %s', (text, sender) => {
    expect(parseSender(text)).toBe(sender);
  });
});

it.each([
  ['MÜNCHEN', ['münchen', 'xn--mnchen-3ya']],
  [' @münchen.example', ['@münchen.example', '@xn--mnchen-3ya.example']],
  ['jürgen@Mu\u0308nchen.example', ['jürgen@münchen.example', 'jürgen@xn--mnchen-3ya.example']],
  ['.xn--p1ai', ['.xn--p1ai']],
  ['o&m@', ['o&m@']],
  ['Shop <Info@münchen.example>', ['info@xn--mnchen-3ya.example']],
])('a search for the part %j of an address uses its stored form', (text, stored) => {
  expect(toSearchForms(text)).toEqual(stored);
});
