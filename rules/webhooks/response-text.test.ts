import { expect, it } from 'vitest';
import { toStoredResponseText } from './response-text.ts';

const URL_OF = 'https://hooks.example.com/in';

it('keeps the first KB of a response, in whole characters that Postgres accepts', () => {
  expect(toStoredResponseText('{"ok":true}', URL_OF)).toBe('{"ok":true}');
  expect(toStoredResponseText('', URL_OF)).toBe('');
  expect(toStoredResponseText('a\0b', URL_OF)).toBe('a\uFFFDb');
  expect(toStoredResponseText('x'.repeat(5_000), URL_OF)).toHaveLength(1_024);
  const kept = toStoredResponseText(`x${'\u20AC'.repeat(1_000)}`, URL_OF);
  expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(1_024);
  expect(kept).toBe(`x${'\u20AC'.repeat(341)}`);
});

it.each([
  [
    'a password, plain, encoded and as a header',
    'https://shop:p%40ss@hooks.example.com/in',
    'shop:p@ss',
    ['p%40ss', 'p@ss'],
  ],
  ['a token that stands alone', 'https://tok3n@hooks.example.com/in', 'tok3n:', ['tok3n']],
])('a response that repeats %s: nothing of it is stored', (_, url, pair, secrets) => {
  const header = Buffer.from(pair).toString('base64');
  const kept = toStoredResponseText(`{"authorization":"Basic ${header}","seen":"${secrets.join(' ')}"}`, url);
  for (const secret of [header, ...secrets]) expect(kept).not.toContain(secret);
  expect(kept).toContain('"Basic ***"');
});

it('a secret that the cut would split is not stored', () => {
  const kept = toStoredResponseText(
    `${'x'.repeat(1_020)}secret-password`,
    'https://u:secret-password@hooks.example.com',
  );
  expect(kept).not.toContain('secr');
});
