import { describe, expect, it } from 'vitest';
import { encodeCursor } from '../cursor.ts';
import { decodePlace, encodePlace, type RecipientPlace } from './recipient-place.ts';

const ID = '01a2074d-5388-7d56-9834-4517a72d14db';

describe('the position in a list of recipients', () => {
  it.each<RecipientPlace>([
    { part: 'all', before: ID },
    { part: 'rest', before: ID },
    { part: 'rest', before: null },
    { part: 'address', after: 'ada@example.com' },
    { part: 'address', after: null },
  ])('is the same after encoding as a cursor: %j', (place) => {
    expect(decodePlace(encodePlace(place))).toEqual(place);
  });

  it.each([[''], ['x'], ['all', ID], ['rest', 'x'], ['address', 5], [ID, ID, ID]])(
    'refuses the foreign cursor %j',
    (...key) => {
      expect(() => decodePlace(encodeCursor(key))).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
    },
  );
});
