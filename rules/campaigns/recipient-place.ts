import { decodeCursor, encodeCursor, isId, unreadableCursor } from '../cursor.ts';

/**
 * Position in a list of recipients. `all`: newest first, after this id; null at the start. A search in a large
 * campaign has two parts: `address`, recipients whose address starts with the search text, ordered by address, after
 * `after`; then `rest`, the others, newest first.
 */
export type RecipientPlace =
  | { part: 'all' | 'rest'; before: string | null }
  | { part: 'address'; after: string | null };

/** Returns the cursor that continues from a position. */
export function encodePlace(place: RecipientPlace): string {
  if (place.part === 'address') return encodeCursor([place.part, place.after ?? '']);
  const before = place.before ?? '';
  return encodeCursor(place.part === 'all' ? [before] : [place.part, before]);
}

/** @throws AppError BAD_REQUEST for an invalid cursor */
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
