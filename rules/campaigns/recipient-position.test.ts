import { describe, expect, it } from 'vitest';
import { encodeCursor } from '../cursor.ts';
import { decodePosition, encodePosition, type RecipientPosition } from './recipient-position.ts';

const ID = '01a2074d-5388-7d56-9834-4517a72d14db';

describe('the position in a list of recipients', () => {
  it.each<RecipientPosition>([
    { part: 'all', before: ID },
    { part: 'rest', before: ID },
    { part: 'rest', before: null },
    { part: 'address', after: 'ada@example.com' },
    { part: 'address', after: null },
  ])('is the same after encoding as a cursor: %j', (position) => {
    expect(decodePosition(encodePosition(position))).toEqual(position);
  });

  it.each([[''], ['x'], ['all', ID], ['rest', 'x'], ['address', 5], [ID, ID, ID]])(
    'refuses the foreign cursor %j',
    (...key) => {
      expect(() => decodePosition(encodeCursor(key))).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
    },
  );
});
