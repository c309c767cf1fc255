import { type AppError, createQueryError } from './errors.ts';

/** The values of the sort key at the last row of a page. The last of these values is unique in the list. */
export type CursorKey = readonly (string | number)[];

/** The maximum length of a cursor that a caller may send. */
const MAX_CURSOR_CHARS = 1000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Encodes a position in a list as a cursor: the sort key as JSON in base64url. The caller sends the cursor back to get
 * the next page. Source: contract §1.6 Lists.
 */
export function encodeCursor(key: CursorKey): string {
  return Buffer.from(JSON.stringify(key), 'utf8').toString('base64url');
}

/**
 * Decodes a cursor to the values of its sort key. The cursor must have no mark (see `unmarkCursor`). `lengths` are the
 * allowed numbers of values.
 * @throws AppError VALIDATION_ERROR (400) for an invalid cursor
 */
export function decodeCursor(cursor: string, ...lengths: number[]): (string | number)[] {
  const key = parse(cursor);
  if (!Array.isArray(key) || !lengths.includes(key.length) || !key.every(isKeyValue)) throw createCursorError();
  return key;
}

/**
 * Decodes a cursor that contains only the id of a row, as in lists that are sorted by their UUIDv7.
 * @throws AppError VALIDATION_ERROR (400) for an invalid cursor
 */
export function decodeIdCursor(cursor: string): string {
  const [id] = decodeCursor(cursor, 1);
  if (!isUuid(id)) throw createCursorError();
  return id;
}

/** Tells whether a value in a cursor is a UUID. The row with this id may have been deleted. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

function parse(cursor: string): unknown {
  if (cursor.length > MAX_CURSOR_CHARS || !/^[\w-]+$/.test(cursor)) throw createCursorError();
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw createCursorError();
  }
}

function isKeyValue(value: unknown): value is string | number {
  return (typeof value === 'string' && !value.includes('\0')) || typeof value === 'number';
}

/**
 * Puts the mark of a list before a cursor. The mark is a short hash of the path, the filters and the order of the list
 * (`api/http/list-mark.ts`), so that the cursor of another list is refused.
 */
export function markCursor(cursor: string, mark: string): string {
  return mark + cursor;
}

/**
 * Removes the mark of a list from a caller's cursor.
 * @throws AppError VALIDATION_ERROR (400) for an invalid cursor, and for the cursor of another list
 */
export function unmarkCursor(cursor: string, mark: string): string {
  const position = cursor.slice(mark.length);
  parse(position);
  if (cursor.startsWith(mark)) return position;
  throw createQueryError(
    [{ field: 'cursor', message: 'The cursor is from another list, filter or order.', code: 'invalid_string' }],
    'Repeat the filters and the order of the previous page, or omit the cursor for the first page.',
  );
}

/** Returns the error for an invalid cursor. */
export function createCursorError(): AppError {
  return createQueryError(
    [{ field: 'cursor', message: 'The cursor cannot be read.', code: 'invalid_string' }],
    'Pass the cursor of the previous page unchanged, or omit the cursor for the first page.',
  );
}
