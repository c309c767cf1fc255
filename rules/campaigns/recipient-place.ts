import { decodeCursor, encodeCursor, isId, unreadableCursor } from '../cursor.ts';

/**
 * How far a list of recipients has come. `all`: newest first, to the one before whose id it goes on; null before the
 * first. A search in a large campaign has two parts: `address`, those whose address begins with what is searched for,
 * by their address, to that of `after`; then `rest`, the others, newest first.
 */
export type RecipientPlace =
  | { part: 'all' | 'rest'; before: string | null }
  | { part: 'address'; after: string | null };

/** The cursor that goes on from a place. */
export function encodePlace(place: RecipientPlace): string {
  if (place.part === 'address') return encodeCursor([place.part, place.after ?? '']);
  const before = place.before ?? '';
  return encodeCursor(place.part === 'all' ? [before] : [place.part, before]);
}

/** @throws AppError BAD_REQUEST when the cursor is not one of ours */
export function decodePlace(cursor: string): RecipientPlace {
  const [first, second] = decodeCursor(cursor, 1, 2);
  if (second === undefined) return { part: 'all', before: idOf(first) };
  if (first === 'address' && typeof second === 'string') return { part: first, after: second || null };
  if (first === 'rest') return { part: first, before: second === '' ? null : idOf(second) };
  throw unreadableCursor();
}

function idOf(value: unknown): string {
  if (!isId(value)) throw unreadableCursor();
  return value;
}
