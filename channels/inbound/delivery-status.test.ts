import { expect, it } from 'vitest';
import { findRecipientStatus } from './delivery-status.ts';

const block = (recipient: string, action: string) =>
  new Map([
    ['final-recipient', recipient],
    ['action', action],
  ]);

it.each([
  'rfc822;ada@example.com',
  'RFC822 ; Ada@Example.com',
  'rfc822; <ada@example.com>',
  'rfc822;ada+40example.com',
  'x-local ; <ada@example.com',
])('a block for %j is for ada@example.com', (recipient) => {
  const blocks = [block('rfc822;bob@example.com', 'failed'), block(recipient, 'delivered')];
  expect(findRecipientStatus(blocks, 'ada@example.com').fields.get('action')).toBe('delivered');
});

it.each(['utf-8;ada@bücher.example', 'UTF-8; Ada@b\\x{FC}cher.example', 'rfc822;ada@xn--bcher-kva.example'])(
  'a block about %j is about an address with an international domain',
  (recipient) => {
    const blocks = [block('rfc822;bob@example.com', 'failed'), block(recipient, 'delivered')];
    const { fields, isAboutAnother } = findRecipientStatus(blocks, 'ada@xn--bcher-kva.example');
    expect(fields.get('action')).toBe('delivered');
    expect(isAboutAnother).toBe(false);
  },
);

it('the code of a character that does not exist stays unchanged', () => {
  const { isAboutAnother } = findRecipientStatus([block('utf-8;a\\x{ffffff}@example.com', 'failed')], 'a@example.com');
  expect(isAboutAnother).toBe(true);
});

it.each(['ada@example.com', 'rfc822;ada@example.com> x', 'r f c;ada@example.com', 'rfc822;'])(
  'a block about %j is not for ada@example.com',
  (recipient) => {
    const blocks = [block('rfc822;bob@example.com', 'failed'), block(recipient, 'delivered')];
    expect(findRecipientStatus(blocks, 'ada@example.com').fields.get('action')).toBe('failed');
  },
);

it('reads a large report with many spaces quickly', () => {
  const spaces = ' '.repeat(128 * 1024);
  const blocks = [`rfc822;${spaces}>x`, `rfc822${spaces};>`, `${spaces}a${spaces}`].map((text) =>
    block(text, 'failed'),
  );
  expect(findRecipientStatus(blocks, 'ada@example.com').fields.get('action')).toBe('failed');
});
