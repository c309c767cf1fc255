import { createCursorError, decodeCursor, encodeCursor, isUuid } from '../cursor.ts';

/**
 * A position in a list of recipients. The part `all` is a list without a search, newest first. Its next page has the
 * recipients with ids below `before`, or starts at the newest recipient if `before` is null. A search in a large
 * campaign has two parts. `address` has the recipients whose address starts with the search text, ordered by address.
 * Its next page starts after the address `after`. Then `rest` has the other matches, newest first.
 */
export type RecipientPosition =
  | { part: 'all' | 'rest'; before: string | null }
  | { part: 'address'; after: string | null };

/** Returns the cursor that continues from a position. */
export function encodePosition(position: RecipientPosition): string {
  if (position.part === 'address') return encodeCursor([position.part, position.after ?? '']);
  const before = position.before ?? '';
  return encodeCursor(position.part === 'all' ? [before] : [position.part, before]);
}

/** Reads the position in a cursor. @throws AppError VALIDATION_ERROR (400) for an invalid cursor */
export function decodePosition(cursor: string): RecipientPosition {
  const [first, second] = decodeCursor(cursor, 1, 2);
  if (second === undefined) return { part: 'all', before: requireUuid(first) };
  if (first === 'address' && typeof second === 'string') return { part: first, after: second || null };
  if (first === 'rest') return { part: first, before: second === '' ? null : requireUuid(second) };
  throw createCursorError();
}

function requireUuid(value: unknown): string {
  if (!isUuid(value)) throw createCursorError();
  return value;
}
