import { createHash } from 'node:crypto';
import { markCursor } from '../../rules/cursor.ts';

/** 48 bits are enough, because a mark only detects a cursor of another list. It has no security purpose. */
const MARK_CHARS = 8;
/** Parameters that do not change the records of a list or their order, so they may differ between its pages. */
const PAGE_PARAMETERS: readonly string[] = ['cursor', 'limit', 'page', 'pageSize', 'count', 'format'];

/** A list as a caller requests it. */
interface RequestedList {
  /** Undefined for a list over all projects. */
  projectId: string | undefined;
  /** The requested path without the query. `/v1/contacts` and `/contacts` are one list. */
  path: string;
  /** The parsed query, so that an omitted parameter equals its default value. */
  query: Record<string, unknown>;
}

/**
 * Returns the mark of a list: the start of a hash of its project, path, filters and order. All pages of a list have the
 * same mark, whatever their size. Source: contract §1.6 Lists.
 */
export function computeListMark({ projectId, path, query }: RequestedList): string {
  const filters = Object.entries(query)
    .filter(([name, value]) => value !== undefined && !PAGE_PARAMETERS.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const list = [projectId, path.replace(/^\/v1(?=\/)/, '').replace(/\/$/, ''), filters];
  return createHash('sha256').update(JSON.stringify(list)).digest('base64url').slice(0, MARK_CHARS);
}

/**
 * Adds the mark of the list to the cursor in the body of a page. Returns a copy, or a body without a cursor as it is.
 */
export function markPageCursor<Body>(body: Body, mark: string): Body {
  if (typeof body !== 'object' || body === null) return body;
  const cursors = Object.entries(body).filter(
    (entry): entry is [string, string] =>
      (entry[0] === 'cursor' || entry[0] === 'nextCursor') && typeof entry[1] === 'string',
  );
  return { ...body, ...Object.fromEntries(cursors.map(([name, cursor]) => [name, markCursor(cursor, mark)])) };
}
