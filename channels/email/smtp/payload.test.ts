import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildPayload } from './payload.ts';

function toWireText(data: string | Buffer): string {
  const payload = buildPayload(data, false);
  return payload.data.toString('latin1') + payload.end;
}

/** Returns the text that a server stores: without doubled dots, up to the line with a single dot. */
function toStoredText(bytes: string): string {
  const end = bytes.startsWith('.\r\n') ? 0 : bytes.indexOf('\r\n.\r\n') + 2;
  expect(bytes.slice(end)).toBe('.\r\n'); // Nothing follows the end, so no second message can be smuggled.
  return bytes.slice(0, end).replace(/(^|\r\n)\.\./g, '$1.');
}

describe('a message as SMTP sends it', () => {
  it.each([
    ['a\r\n', 'a\r\n.\r\n'],
    ['a', 'a\r\n.\r\n'],
    ['', '.\r\n'],
    ['.', '..\r\n.\r\n'],
    ['a\n.\nb', 'a\r\n..\r\nb\r\n.\r\n'],
    ['a\r.\rb', 'a\r\n..\r\nb\r\n.\r\n'],
    ['a\r\n.b\r\n..c\r\n', 'a\r\n..b\r\n...c\r\n.\r\n'],
  ])('the message %j is sent as %j', (data, expected) => {
    expect(toWireText(data)).toBe(expected);
    expect(toWireText(Buffer.from(data))).toBe(expected);
  });

  it('arrives unchanged except for its line ends', () => {
    const parts = fc.array(fc.constantFrom('.', '\r', '\n', '\r\n', 'a', '\xe9', 'MAIL FROM:<x>'), { maxLength: 30 });
    fc.assert(
      fc.property(parts, (all) => {
        const data = all.join('');
        const lines = data.replace(/\r\n|\r|\n/g, '\r\n');
        expect(toStoredText(toWireText(data))).toBe(lines === '' || lines.endsWith('\r\n') ? lines : `${lines}\r\n`);
      }),
    );
  });

  it('is neither checked nor changed if the caller declares it canonical', () => {
    const data = 'ready\r\n';
    expect(buildPayload(data, true)).toEqual({ data, end: '.\r\n', bytes: 7, eightBit: false });
  });

  it('counts octets before the dots are doubled', () => {
    expect(buildPayload('.a\n\xe9\r\n', false)).toMatchObject({ bytes: 7, eightBit: true });
  });
});
