import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connection.ts';
import { afterCursorSql, type Page, type PageRequest, toPage } from '../keyset.ts';
import type { SegmentType } from '../schema/segments.ts';
import type { SegmentRef } from './segments.ts';

export const SEGMENT_CHANGES = ['entry', 'exit'] as const;

/** A contact that entered or left a tracked segment, or was added to or removed from a STATIC segment. */
export interface MembershipChange {
  /** Id of the recorded event. For a STATIC segment, id of the row in `segment_member_changes`. */
  id: string;
  change: (typeof SEGMENT_CHANGES)[number];
  /** Null if the contact was deleted. */
  contactId: string | null;
  email: string | null;
  /**
   * The actor who added or removed the contact, for a STATIC segment: `user:<id>` or `key:<id>`. Null for a tracked
   * segment.
   */
  actor: string | null;
  at: Date;
}

/** Counting stops at this number, because no one reads more pages. */
export const HISTORY_TOTAL_MAX = 10_000;

/** The predicate of the partial index of `events` by segment id (see the migration). */
const IS_CHANGE = sql`(name LIKE 'segment.%.entry' OR name LIKE 'segment.%.exit')`;

/**
 * Lists contacts that entered and left a segment, newest first. For a DYNAMIC segment, reads the events that its
 * computations recorded, also under an earlier slug. For a STATIC segment, reads `segment_member_changes`. `total` is
 * counted only on the first page, up to HISTORY_TOTAL_MAX, and is 0 on later pages.
 * @throws AppError BAD_REQUEST for an invalid cursor
 */
export async function listSegmentHistory(
  db: Db,
  p: PageRequest & SegmentRef & { type: SegmentType },
): Promise<Page<MembershipChange> & { total: number }> {
  const changes = p.type === 'STATIC' ? selectStaticChanges(p) : selectSegmentEvents(p);
  const { rows } = await sql<MembershipChange>`
    SELECT e.id, e.change, c.id AS "contactId", c.email, e.actor, e.created_at AS at
    FROM (${changes} AND ${afterCursorSql(p.cursor)} ORDER BY id DESC LIMIT ${p.limit + 1}) e
    LEFT JOIN contacts c ON c.id = e.contact_id AND c.project_id = ${p.projectId}
    ORDER BY e.id DESC`.execute(db);
  if (p.cursor !== undefined) return { ...toPage(rows, p.limit, (row) => row), total: 0 };
  const counted = await sql<{ count: number }>`
    SELECT count(*) AS count FROM (${changes} LIMIT ${HISTORY_TOTAL_MAX}) e`.execute(db);
  return { ...toPage(rows, p.limit, (row) => row), total: counted.rows[0]?.count ?? 0 };
}

function selectSegmentEvents({ projectId, id }: SegmentRef): RawBuilder<unknown> {
  return sql`
    SELECT id, CASE WHEN name LIKE '%.entry' THEN 'entry' ELSE 'exit' END AS change, contact_id, NULL AS actor, created_at
    FROM events WHERE project_id = ${projectId} AND data->>'segmentId' = ${id}::text AND ${IS_CHANGE}`;
}

function selectStaticChanges({ projectId, id }: SegmentRef): RawBuilder<unknown> {
  return sql`
    SELECT id, change, contact_id, actor, created_at FROM segment_member_changes
    WHERE project_id = ${projectId} AND segment_id = ${id}`;
}
