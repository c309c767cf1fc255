import fc from 'fast-check';
import { expect, test } from 'vitest';
import { relaxedBodyPieces, splitMessage, splitMessageBytes, toRelaxedBody } from './dkim-canonical.ts';

const piece = fc.constantFrom('a', ' ', '\t', '\r\n', '\r\n\r\n', ' \r\n', 'word', '\u00e4');
const long = fc.integer({ min: 0, max: 600_000 }).map((n) => 'x'.repeat(n));
const body = fc
  .array(fc.oneof({ weight: 20, arbitrary: piece }, { weight: 1, arbitrary: long }))
  .map((all) => all.join(''));

test('the canonical pieces of a large body, joined, are the canonical body', () => {
  fc.assert(
    fc.property(body, (text) => {
      expect([...relaxedBodyPieces(Buffer.from(text, 'latin1'))].join('') === toRelaxedBody(text)).toBe(true);
    }),
    { numRuns: 200 },
  );
});

test('the joined pieces are the canonical body even if a piece ends between empty lines and lines with text', () => {
  const text = `${'line \r\n'.repeat(50_000)}${'\r\n'.repeat(300_000)}end\r\n${'\r\n'.repeat(300_000)}`;
  expect([...relaxedBodyPieces(Buffer.from(text, 'latin1'))].join('') === toRelaxedBody(text)).toBe(true);
});

test('a message is split at the same position, whether it is a string or bytes', () => {
  for (const message of ['a: b\r\n\r\nbody', 'a: b', 'a: b\r\n\r\n', '\r\n\r\n']) {
    const { head, body: bytes } = splitMessageBytes(Buffer.from(message, 'latin1'));
    expect({ head, body: bytes.toString('latin1') }).toEqual(splitMessage(message));
  }
});
