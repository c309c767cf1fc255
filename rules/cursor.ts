import { type AppError, createQueryError } from './errors.ts';

/** The values of the sort key at the last row of a page. The last of these values is unique in the list. */
export type CursorKey = readonly (string | number)[];

/** The length of the longest cursor that the service creates. */
const MAX_CURSOR_CHARS = 1000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Encodes a position in a list as a cursor: base64url of the sort key. Callers send the cursor back unchanged. Source:
 * contract §1.
 */
export function encodeCursor(key: CursorKey): string {
  return Buffer.from(JSON.stringify(key), 'utf8').toString('base64url');
}

/**
 * Decodes a cursor to the values of its sort key. `lengths` are the allowed numbers of values.
 * @throws AppError VALIDATION_ERROR (400) for an invalid cursor
 */
export function decodeCursor(cursor: string, ...lengths: number[]): (string | number)[] {
  const key = parse(cursor);
  if (!Array.isArray(key) || !lengths.includes(key.length) || !key.every(isKeyValue)) throw createCursorError();
  return key;
}

/**
 * Decodes a cursor that is only the id of a row. All lists that are ordered by UUIDv7, newest first, have such cursors.
 * @throws AppError VALIDATION_ERROR (400) for an invalid cursor
 */
export function decodeIdCursor(cursor: string): string {
  const [id] = decodeCursor(cursor, 1);
  if (!isId(id)) throw createCursorError();
  return id;
}

/** Tells whether a value in a cursor is the id of a row. */
export function isId(value: unknown): value is string {
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
 * Adds the mark of a list to a cursor. Without the mark, a cursor does not show to which list it belongs. Callers get
 * only cursors with a mark.
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
