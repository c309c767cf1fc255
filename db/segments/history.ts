import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connection.ts';
import { afterCursor, type Page, type PageRequest, toPage } from '../keyset.ts';
import type { SegmentType } from '../schema/segments.ts';
import type { SegmentRef } from './segments.ts';

export const SEGMENT_CHANGES = ['entry', 'exit'] as const;

/** A contact entered a tracked segment or left it, or was added to a STATIC one or removed. */
export interface MembershipChange {
  /** Of the event that was recorded; of a STATIC segment of the record. */
  id: string;
  change: (typeof SEGMENT_CHANGES)[number];
  /** Null where the contact was erased since, and the event kept. */
  contactId: string | null;
  email: string | null;
  /** Who added or removed it, of a STATIC segment: `user:<id>` or `key:<id>`; null of a tracked one. */
  actor: string | null;
  at: Date;
}

/** Nobody pages through more. */
export const HISTORY_TOTAL_MAX = 10_000;

/** What of `events` an index has by the segment's id: see the migration. */
const IS_CHANGE = sql`(name LIKE 'segment.%.entry' OR name LIKE 'segment.%.exit')`;

/**
 * Who entered and left a segment, newest first: of a DYNAMIC one from the events that its computations recorded,
 * whatever its slug was then; of a STATIC one from what was noted with each change. `total` is counted on the first
 * page, up to HISTORY_TOTAL_MAX; else it is 0.
 * @throws AppError BAD_REQUEST for a cursor that is not ours
 */
export async function listSegmentHistory(
  db: Db,
  p: PageRequest & SegmentRef & { type: SegmentType },
): Promise<Page<MembershipChange> & { total: number }> {
  const changes = p.type === 'STATIC' ? notedChanges(p) : recordedChanges(p);
  const { rows } = await sql<MembershipChange>`
    SELECT e.id, e.change, c.id AS "contactId", c.email, e.actor, e.created_at AS at
    FROM (${changes} AND ${afterCursor(p.cursor)} ORDER BY id DESC LIMIT ${p.limit + 1}) e
    LEFT JOIN contacts c ON c.id = e.contact_id AND c.project_id = ${p.projectId}
    ORDER BY e.id DESC`.execute(db);
  if (p.cursor !== undefined) return { ...toPage(rows, p.limit, (row) => row), total: 0 };
  const counted = await sql<{ count: number }>`
    SELECT count(*) AS count FROM (${changes} LIMIT ${HISTORY_TOTAL_MAX}) e`.execute(db);
  return { ...toPage(rows, p.limit, (row) => row), total: counted.rows[0]?.count ?? 0 };
}

function recordedChanges({ projectId, id }: SegmentRef): RawBuilder<unknown> {
  return sql`
    SELECT id, CASE WHEN name LIKE '%.entry' THEN 'entry' ELSE 'exit' END AS change, contact_id, NULL AS actor, created_at
    FROM events WHERE project_id = ${projectId} AND data->>'segmentId' = ${id}::text AND ${IS_CHANGE}`;
}

function notedChanges({ projectId, id }: SegmentRef): RawBuilder<unknown> {
  return sql`
    SELECT id, change, contact_id, actor, created_at FROM segment_member_changes
    WHERE project_id = ${projectId} AND segment_id = ${id}`;
}
