import { computeListMark } from '../../api/http/list-mark.ts';
import { type CursorKey, encodeCursor, markCursor } from '../../rules/cursor.ts';

/** Returns a cursor of this list at any position, also at positions for which the service never returns a cursor. */
export function forgeCursor(list: Parameters<typeof computeListMark>[0], position: CursorKey): string {
  return markCursor(encodeCursor(position), computeListMark(list));
}
