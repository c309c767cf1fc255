import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCursor, decodeIdCursor, encodeCursor, markCursor, unmarkCursor } from './cursor.ts';
import { AppError } from './errors.ts';

describe('cursors', () => {
  it('are decoded to the position that was encoded', () => {
    const value = fc.oneof(
      fc.string({ maxLength: 40 }).filter((text) => !text.includes('\0')),
      fc.integer(),
    );
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 3 }), (key) => {
        expect(decodeCursor(encodeCursor(key), key.length)).toEqual(key);
      }),
    );
  });

  it.each(['', '%%%', 'bm90IGpzb24', encodeCursor([1, 2]), encodeCursor(['no id']), 'x'.repeat(2000)])(
    'are refused if they are not the id of a row: %s',
    (cursor) => {
      expect(() => decodeIdCursor(cursor)).toThrow(AppError);
    },
  );

  it('are valid only for the list that created them', () => {
    const cursor = markCursor(encodeCursor([1]), 'contacts');
    expect(unmarkCursor(cursor, 'contacts')).toBe(encodeCursor([1]));
    expect(() => unmarkCursor(cursor, 'segments')).toThrow(AppError);
    expect(() => unmarkCursor(encodeCursor([1]), 'contacts')).toThrow(AppError);
  });

  it('are refused with an AppError, never with another error, for any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          decodeIdCursor(text);
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
        }
      }),
    );
  });
});
