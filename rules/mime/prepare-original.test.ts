import { expect, it } from 'vitest';
import { prepareOriginal } from './prepare-original.ts';

const OPTIONS = { host: 'mx.example.com', id: '1', from: 'envelope@example.com', now: new Date(0) };

/** The header fields of a message that the relay prepares, without `Received`. */
function prepareHeaders(header: string): string[] {
  const { message } = prepareOriginal(Buffer.from(`${header}\r\nSubject: Hi\r\n\r\nText\r\n`), OPTIONS);
  const [head = ''] = message.toString().split('\r\n\r\n');
  return head.split(/\r\n(?! )/).filter((line) => !line.startsWith('Received:') && line !== 'Subject: Hi');
}

const FROM = 'From: a@example.com';
const TO = 'To: b@example.com';

it.each([
  'Date: now',
  'Date:',
  'Date: 2026-11-28T10:00:00Z',
  'Date: Sat Nov 28 2026 10:00:00 GMT+0000 (UTC)',
  'Date: Sat, 28 Nov 2026 10:00:00',
  'Date: Mon, 31 Feb 2026 10:00:00 +0000',
  'Date: Sat, 28 Nov 2026 25:00:00 +0000',
  'Date: 1795860000',
])('removes an unreadable date, which the service writes again: %s', (date) => {
  expect(prepareHeaders([FROM, TO, date].join('\r\n'))).toEqual([FROM, TO]);
});

it.each([
  'Date: Sat, 28 Nov 2026 10:00:00 +0000',
  'Date: 28 Nov 2026 10:00 +0530',
  'Date: Sat,  8 Nov 2026 10:00:00 -0800 (PST)',
  'Date: Sat, 28 Nov 26 10:00:00 GMT',
  'Date: sat, 28 nov 2026 10:00:00 +0000',
  'Date: Sat, 28 Nov 2026\r\n 10:00:00 +0000',
])('keeps a date as it is written: %s', (date) => {
  expect(prepareHeaders([FROM, TO, date].join('\r\n'))).toEqual([FROM, TO, date]);
});

it.each(['Reply-To:', 'Reply-To:  ', 'Cc:', 'Reply-To:\r\n '])('removes an empty list of addresses: %j', (field) => {
  expect(prepareHeaders([FROM, TO, field].join('\r\n'))).toEqual([FROM, TO]);
});

it('names undisclosed recipients where the message has an empty To', () => {
  expect(prepareHeaders([FROM, 'To: '].join('\r\n'))).toEqual(['To: undisclosed-recipients:;', FROM]);
});

it.each(['From:', 'From: Shop', 'From: "a, b"'])(
  'writes the author of the envelope where From has no address: %s',
  (from) => {
    expect(prepareHeaders([from, TO].join('\r\n'))).toEqual(['From: envelope@example.com', TO]);
  },
);

it('keeps a group, and several addresses to reply to', () => {
  const fields = [
    'Reply-To: A <a@x.example>,\r\n b@x.example',
    'Cc: Team: c@x.example;',
    'To: undisclosed-recipients:;',
  ];
  expect(prepareHeaders([FROM, ...fields].join('\r\n'))).toEqual([FROM, ...fields]);
});

it('puts quotes around the name of an author that has a comma', () => {
  expect(prepareHeaders(['From: Shop, Inc. <shop@example.com>', TO].join('\r\n'))).toEqual([
    'From: "Shop, Inc." <shop@example.com>',
    TO,
  ]);
});

it.each(['From: a@example.com, b@example.com', 'From: a@example.com, b'])('refuses two authors: %s', (from) => {
  expect(() => prepareHeaders([from, TO].join('\r\n'))).toThrow('more than one address');
});

it('reads the quotes and the euro sign of a header in Windows-1252', () => {
  const bytes = Buffer.from(
    `${FROM}\r\n${TO}\r\nX-Offer: \x93Tee\x94 5 \x80\r\nContent-Type: text/plain\r\n\r\nText`,
    'latin1',
  );
  const { message } = prepareOriginal(bytes, OPTIONS);
  expect(message.toString()).toContain(`=?utf-8?B?${Buffer.from('“Tee” 5 €').toString('base64')}?=`);
});

it.each([
  ['windows-1252', 'text/html'],
  ['the charset of the body', 'text/plain; charset=iso-8859-15'],
])('reads a header that is not UTF-8 as %s', (_, type) => {
  const bytes = Buffer.from(
    `${FROM}\r\n${TO}\r\nX-Greeting: Gr\xfc\xdfe\r\nContent-Type: ${type}\r\n\r\nText`,
    'latin1',
  );
  const { message } = prepareOriginal(bytes, OPTIONS);
  expect(message.toString()).toContain(`X-Greeting: =?utf-8?B?${Buffer.from('Grüße').toString('base64')}?=\r\n`);
});

const findHtml = (type: string, body: Buffer) =>
  prepareOriginal(Buffer.concat([Buffer.from(`${FROM}\r\n${TO}\r\nContent-Type: ${type}\r\n\r\n`), body]), OPTIONS)
    .html;

it.each([
  ['text/html; charset=utf-8', Buffer.from('Gr\xfc\xdfe', 'latin1')],
  ['text/html', Buffer.from('Gr\xfc\xdfe', 'latin1')],
  ['text/html; charset=us-ascii', Buffer.from('Grüße')],
  ['text/html; charset=utf-7', Buffer.from('Gr+APwA3w-e')],
  ['text/html; charset=utf-8\r\nContent-Transfer-Encoding: x-uuencode', Buffer.from('begin 644 a\r\n`\r\nend')],
  ['text/html; name=report.html\r\nContent-Disposition: inline; filename=report.html', Buffer.from('file')],
])('does not track HTML that it cannot decode, or that is an inline file: %s', (type, body) => {
  expect(findHtml(type, body)).toBeUndefined();
});

it.each(['windows-1252', 'iso-8859-1', 'cp1252'])('reads the quotes and the euro sign of HTML in %s', (charset) => {
  const html = Buffer.from('\x93caf\xe9\x94 5 \x80 \x96 \x85', 'latin1');
  expect(findHtml(`text/html; charset=${charset}`, html)).toBe('“café” 5 € – …');
});

it('tracks HTML in another charset than UTF-8', () => {
  expect(findHtml('text/html; charset=iso-8859-1', Buffer.from('Gr\xfc\xdfe', 'latin1'))).toBe('Grüße');
  expect(findHtml('text/html; charset=windows-1252', Buffer.from('\x93\x80\x94', 'latin1'))).toBe('“€”');
});
