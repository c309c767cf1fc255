import { type RawBuilder, sql } from 'kysely';
import { createCursorError, decodeCursor } from '../../rules/cursor.ts';
import { ACTIVITY_EVENTS, type ActivityType } from '../../rules/events/activity.ts';
import type { Db } from '../connection.ts';
import { FAR_FUTURE } from '../id-time.ts';
import { toKeyedPage } from '../keyset.ts';
import { countResponseBytes } from '../page-budget.ts';
import {
  ACTIVITY_SOURCES,
  type ActivityFilter,
  type ActivityPosition,
  type ActivitySource,
  selectActivityItems,
  selectActivityItemsToCount,
} from './activity-sources.ts';

export interface ActivityItem {
  id: string;
  type: ActivityType;
  timestamp: Date;
  contactId: string | null;
  contactEmail: string | null;
  metadata: Record<string, unknown>;
}

export interface ActivityPage {
  items: ActivityItem[];
  cursor: string | null;
  hasMore: boolean;
  /** Counted only on the first page, up to ACTIVITY_TOTAL_MAX; otherwise 0. */
  total: number;
}

/**
 * The maximum number of items that are counted. No one reads more pages, and counting the whole history of a large
 * project takes seconds.
 */
export const ACTIVITY_TOTAL_MAX = 10_000;

/**
 * Lists the activity of a project, newest first. Reads at most one page of each kind of row in the order of an index,
 * and merges these pages. The position in the list is the instant in milliseconds and then the key (type and id), so
 * that no item is repeated or skipped.
 * @throws AppError BAD_REQUEST for an invalid cursor
 */
export async function listActivity(
  db: Db,
  p: ActivityFilter & { limit: number; cursor?: string | undefined },
): Promise<ActivityPage> {
  const position = decodeActivityPosition(p);
  const wanted = ACTIVITY_SOURCES.filter((source) => !p.types || source.types.some((type) => p.types?.includes(type)));
  if (wanted.length === 0) return { items: [], cursor: null, hasMore: false, total: 0 };
  const parts = wanted.map((source) => sql`(${selectActivityItems(source, p, position)} LIMIT ${p.limit + 1})`);
  const total = p.cursor === undefined ? await countItems(db, p, wanted) : 0;
  const { rows } = await sql<ActivityItem & { key: string }>`
    SELECT f.id || ':' || f.type AS id, f.key, f.type, f.at AS timestamp, f.contact_id AS "contactId",
      c.email AS "contactEmail", f.metadata
    FROM (SELECT * FROM (${sql.join(parts, sql` UNION ALL `)}) u ORDER BY at DESC, key DESC LIMIT ${p.limit + 1}) f
    LEFT JOIN contacts c ON c.project_id = ${p.projectId} AND c.id = f.contact_id
    ORDER BY f.at DESC, f.key DESC
  `.execute(db);
  const page = toKeyedPage(rows, {
    limit: p.limit,
    keyOf: ({ timestamp, key }) => [timestamp.getTime(), key],
    map: ({ key: _, ...item }) => item,
    // The response contains the rows twice, as `data` and as `activities`.
    countBytes: (row) => countResponseBytes(row, 2),
  });
  return { ...page, total };
}

async function countItems(db: Db, p: ActivityFilter, sources: readonly ActivitySource[]): Promise<number> {
  const parts = sources.map(
    (source) => sql`(${selectActivityItemsToCount(source, p, decodeActivityPosition(p))} LIMIT ${ACTIVITY_TOTAL_MAX})`,
  );
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM (SELECT FROM (${sql.join(parts, sql` UNION ALL `)}) u LIMIT ${ACTIVITY_TOTAL_MAX}) v
  `.execute(db);
  return rows[0]?.count ?? 0;
}

function decodeActivityPosition(p: ActivityFilter & { cursor?: string | undefined }): ActivityPosition {
  if (p.cursor === undefined) return { at: p.endDate ?? FAR_FUTURE, key: null };
  const [at, key] = decodeCursor(p.cursor, 2);
  if (typeof at !== 'number' || !(at >= 0 && at <= FAR_FUTURE.getTime())) throw createCursorError();
  if (typeof key !== 'string' || !/^[a-z.]+:[0-9a-f-]{36}$/.test(key)) throw createCursorError();
  return { at: new Date(at), key };
}

export interface ActivityTotals {
  totalEvents: number;
  totalEmailsSent: number;
  totalEmailsOpened: number;
  totalEmailsClicked: number;
  totalWorkflowsStarted: number;
}

/**
 * Counts the activity of a time span without test email. `totalEvents` does not count the events in `ACTIVITY_EVENTS`,
 * such as `email.open`, which the service records. An email counts once as opened and once as clicked.
 */
export async function countActivity(
  db: Db,
  p: { projectId: string; startDate: Date; endDate: Date },
): Promise<ActivityTotals> {
  const isWithinSpan = (column: string): RawBuilder<unknown> =>
    sql`${sql.ref(column)} >= ${p.startDate} AND ${sql.ref(column)} <= ${p.endDate}`;
  const own = Object.keys(ACTIVITY_EVENTS);
  const { rows } = await sql<ActivityTotals>`
    SELECT
      (SELECT count(*) FROM events
        WHERE project_id = ${p.projectId} AND ${isWithinSpan('created_at')} AND NOT name = ANY(${own}::text[])) AS "totalEvents",
      m.sent AS "totalEmailsSent", m.opened AS "totalEmailsOpened", m.clicked AS "totalEmailsClicked",
      (SELECT count(*) FROM executions WHERE project_id = ${p.projectId} AND NOT sandbox AND ${isWithinSpan('started_at')}) AS "totalWorkflowsStarted"
    FROM (SELECT count(*) FILTER (WHERE ${isWithinSpan('sent_at')}) AS sent,
        count(*) FILTER (WHERE ${isWithinSpan('opened_at')}) AS opened, count(*) FILTER (WHERE ${isWithinSpan('clicked_at')}) AS clicked
      FROM emails WHERE project_id = ${p.projectId} AND mode = 'live' AND NOT simulated) m
  `.execute(db);
  return (
    rows[0] ?? {
      totalEvents: 0,
      totalEmailsSent: 0,
      totalEmailsOpened: 0,
      totalEmailsClicked: 0,
      totalWorkflowsStarted: 0,
    }
  );
}

/** Counts the items that were added to the feed since an instant, at most `RECENT_MAX` of each source. */
export async function countRecentActivity(db: Db, p: { projectId: string; since: Date }): Promise<number> {
  const parts = ACTIVITY_SOURCES.map(
    (source) =>
      sql`(${selectActivityItemsToCount(source, { projectId: p.projectId, startDate: p.since }, { at: FAR_FUTURE, key: null })} LIMIT ${RECENT_MAX})`,
  );
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM (${sql.join(parts, sql` UNION ALL `)}) u
  `.execute(db);
  return rows[0]?.count ?? 0;
}

/** The maximum number of items that are counted per source. */
const RECENT_MAX = 10_000;

export interface UpcomingActivity {
  id: string;
  type: 'campaign.scheduled' | 'workflow.delay';
  timestamp: Date;
  contactId: string | null;
  contactEmail: string | null;
  metadata: Record<string, unknown>;
}

/**
 * Lists upcoming activity, soonest first: scheduled campaigns, and the ends of waits of executions (a DELAY, the
 * timeout of a WAIT_FOR_EVENT, or the opening of the sending window).
 */
export async function listUpcoming(
  db: Db,
  p: { projectId: string; until: Date; limit: number },
): Promise<UpcomingActivity[]> {
  const { rows } = await sql<UpcomingActivity>`
    SELECT * FROM (
      (SELECT id::text, 'campaign.scheduled' AS type, scheduled_at AS timestamp, NULL::uuid AS "contactId",
          NULL AS "contactEmail", jsonb_build_object('campaignId', id, 'name', name, 'subject', subject) AS metadata
        FROM campaigns WHERE project_id = ${p.projectId} AND status = 'SCHEDULED' AND scheduled_at <= ${p.until}
        ORDER BY scheduled_at LIMIT ${p.limit})
      UNION ALL
      (SELECT x.id::text, 'workflow.delay', s.due_at, x.contact_id, c.email, jsonb_build_object('workflowId', x.workflow_id,
          'workflowName', w.name, 'executionId', x.id, 'stepId', s.step_id, 'stepType', s.type)
        FROM executions x
        JOIN execution_steps s ON s.execution_id = x.id AND s.visit = x.visit AND s.due_at IS NOT NULL
        JOIN workflows w ON w.id = x.workflow_id
        LEFT JOIN contacts c ON c.id = x.contact_id AND c.project_id = x.project_id
        WHERE x.project_id = ${p.projectId} AND x.completed_at IS NULL AND NOT x.sandbox AND x.status = 'WAITING' AND s.due_at <= ${p.until}
        ORDER BY s.due_at LIMIT ${p.limit})) u
    ORDER BY timestamp, id LIMIT ${p.limit}
  `.execute(db);
  return rows;
}
