import { describe, expect, it } from 'vitest';
import { toUtf8 } from './csv-encoding.ts';
import { readCsvLayout } from './csv-layout.ts';
import { readCsvChunk } from './csv-rows.ts';

const TEXT = 'email\tname\nada@e.test\tÅsa 🎉\n';

function readContacts(file: Uint8Array) {
  const layout = readCsvLayout(file);
  return readCsvChunk(file, { layout, at: layout.firstRowAt, limit: 10, text: false }).rows;
}

describe('toUtf8', () => {
  const little = Buffer.from(`\ufeff${TEXT}`, 'utf16le');
  const big = Buffer.from(little).swap16();

  it.each([
    ['little', little],
    ['big', big],
  ])('reads UTF-16 of %s byte order', (_, file) => {
    expect(readContacts(toUtf8(file))).toEqual([
      { ok: true, contact: { email: 'ada@e.test', subscribed: undefined, set: { name: 'Åsa 🎉' } } },
    ]);
  });

  it('does not change UTF-8, and refuses half a character of UTF-16', () => {
    const utf8 = Buffer.from(TEXT);
    expect(toUtf8(utf8)).toBe(utf8);
    expect(() => toUtf8(little.subarray(0, little.length - 1))).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR' }),
    );
  });
});
