import { sql } from 'kysely';
import type { Db } from '../connection.ts';
import { afterCursor, type Page, type PageRequest, toPage } from '../keyset.ts';
import type { SegmentRef } from './segments.ts';

export const SEGMENT_CHANGES = ['entry', 'exit'] as const;

/** A contact entered a tracked segment, or left it. */
export interface MembershipChange {
  /** Of the event that was recorded. */
  id: string;
  change: (typeof SEGMENT_CHANGES)[number];
  /** Null where the contact was erased since, and the event kept. */
  contactId: string | null;
  email: string | null;
  at: Date;
}

/** Nobody pages through more. */
export const HISTORY_TOTAL_MAX = 10_000;

/** What of `events` an index has by the segment's id: see the migration. */
const IS_CHANGE = sql`(name LIKE 'segment.%.entry' OR name LIKE 'segment.%.exit')`;

/**
 * Who entered and left a segment, newest first: from the events that its computations recorded, whatever its slug was
 * then. `total` is counted on the first page, up to HISTORY_TOTAL_MAX; else it is 0.
 * @throws AppError BAD_REQUEST for a cursor that is not ours
 */
export async function listSegmentHistory(
  db: Db,
  p: PageRequest & SegmentRef,
): Promise<Page<MembershipChange> & { total: number }> {
  const mine = sql`project_id = ${p.projectId} AND data->>'segmentId' = ${p.id}::text AND ${IS_CHANGE}`;
  const { rows } = await sql<MembershipChange>`
    SELECT e.id, CASE WHEN e.name LIKE '%.entry' THEN 'entry' ELSE 'exit' END AS change, c.id AS "contactId", c.email, e.created_at AS at
    FROM (SELECT id, name, contact_id, created_at FROM events WHERE ${mine} AND ${afterCursor(p.cursor)}
      ORDER BY id DESC LIMIT ${p.limit + 1}) e
    LEFT JOIN contacts c ON c.id = e.contact_id AND c.project_id = ${p.projectId}
    ORDER BY e.id DESC`.execute(db);
  if (p.cursor !== undefined) return { ...toPage(rows, p.limit, (row) => row), total: 0 };
  const counted = await sql<{ count: number }>`
    SELECT count(*) AS count FROM (SELECT FROM events WHERE ${mine} LIMIT ${HISTORY_TOTAL_MAX}) e`.execute(db);
  return { ...toPage(rows, p.limit, (row) => row), total: counted.rows[0]?.count ?? 0 };
}
