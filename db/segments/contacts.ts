/** Counts and lists the current contacts of a segment, and maintains the stored count (`member_count`). */
import { type RawBuilder, sql } from 'kysely';
import type { Condition } from '../../rules/filters/filters.ts';
import type { Db } from '../connection.ts';
import {
  CONTACT_COLUMN_NAMES,
  CONTACT_FIELD_NAMES,
  type Contact,
  type ContactRow,
  selectWithTopics,
  toContact,
} from '../contacts/contacts.ts';
import { fittedPageSql, type Listed } from '../page-budget.ts';
import { compileCondition, type SegmentSources } from './filter-sql.ts';
import { loadConditionSources } from './sources.ts';

/** Defines the members of a segment: by its condition, or by its stored members if the condition is null. */
export interface SegmentDefinition {
  projectId: string;
  id: string;
  condition: Condition | null;
}

export interface SegmentPage {
  /** Contacts with `truncated` have no data, because the page reached its size limit. */
  items: Listed<Contact>[];
  total: number;
}

/**
 * Maximum cost of counting the total for a page, in Postgres's cost unit: about 50 ms, in which it counts 20,000 to
 * 50,000 contacts. If the planner expects a higher cost, the stored count is shown instead, because the page should
 * open within 100 ms.
 */
const MAX_COUNT_COST = 10_000;
/** If the stored count is older than this, a new count starts, for which the response does not wait. */
const COUNT_FRESH_SECONDS = 60;

/**
 * Returns the SQL condition on `contacts` for the current members of the segment. The condition may be NULL instead of
 * false.
 */
export async function segmentPredicate(db: Db, segment: SegmentDefinition, now: Date): Promise<RawBuilder<boolean>> {
  const { projectId, id, condition } = segment;
  const members: SegmentSources = new Map([[id, { kind: 'members' as const }]]);
  const asked: Condition = condition ?? {
    logic: 'AND',
    groups: [{ filters: [{ field: `segment.${id}`, operator: 'memberOf' }] }],
  };
  const { segments, zone } = condition
    ? await loadConditionSources(db, { projectId, condition })
    : { segments: members, zone: undefined };
  return compileCondition(asked, { projectId, now, segments, zone });
}

/**
 * Counts the current contacts of a segment. A DYNAMIC segment is counted by its condition, not by its stored members.
 */
export async function countSegment(db: Db, segment: SegmentDefinition): Promise<number> {
  return runCount(db, countQuery(segment.projectId, await segmentPredicate(db, segment, new Date())));
}

/**
 * Returns a page of the segment's current contacts, newest first. `page` starts at 1. The total is exact if this page
 * is the last one or counting is cheap. Otherwise the total is the stored count. If that count is older than a minute,
 * this call also starts a new count for later calls.
 */
export async function listSegmentContacts(
  db: Db,
  segment: SegmentDefinition,
  p: { page: number; pageSize: number },
): Promise<SegmentPage> {
  const predicate = await segmentPredicate(db, segment, new Date());
  const offset = (p.page - 1) * p.pageSize;
  const { rows } = await fittedPageSql<ContactRow>({
    columns: CONTACT_FIELD_NAMES,
    large: { data: { jsonb: 1 } },
    // The response contains the rows twice, as `contacts` and as `data`.
    times: 2,
    rows: selectWithTopics(
      segment.projectId,
      sql`
        SELECT ${sql.raw(CONTACT_COLUMN_NAMES.join(', '))} FROM contacts WHERE project_id = ${segment.projectId} AND ${predicate}
        ORDER BY id DESC LIMIT ${p.pageSize} OFFSET ${offset}`,
    ),
  }).execute(db);
  const items = rows.map((row) => ({ ...toContact(row), truncated: row.truncated }));
  const isLast = items.length < p.pageSize && (items.length > 0 || p.page === 1);
  if (isLast) return { items, total: offset + items.length };
  const count = countQuery(segment.projectId, predicate);
  const isCheap = (await estimateCost(db, count)) <= MAX_COUNT_COST;
  return { items, total: isCheap ? await runCount(db, count) : await readStoredCount(db, segment) };
}

/**
 * Counts the members and stores the count.
 * @returns the count
 */
export async function refreshMemberCount(db: Db, segment: SegmentDefinition): Promise<number> {
  const count = await countSegment(db, segment);
  await sql`
    UPDATE segments SET member_count = ${count}, counted_at = now()
    WHERE project_id = ${segment.projectId} AND id = ${segment.id}`.execute(db);
  return count;
}

/**
 * Returns the stored count; counts first if the segment was never counted. The first caller that finds the count too
 * old starts a new count, which does not delay the caller's response. If the process ends during that count, the old
 * count stays, and the next caller starts a new count.
 */
async function readStoredCount(db: Db, segment: SegmentDefinition): Promise<number> {
  const { rows } = await sql<{ member_count: number; never: boolean; stale: boolean }>`
    UPDATE segments s SET counted_at = CASE WHEN was.stale THEN now() ELSE s.counted_at END
    FROM (SELECT id, counted_at IS NULL AS never,
        coalesce(counted_at < now() - make_interval(secs => ${COUNT_FRESH_SECONDS}), true) AS stale
      FROM segments WHERE project_id = ${segment.projectId} AND id = ${segment.id} FOR UPDATE) was
    WHERE s.id = was.id RETURNING s.member_count, was.never, was.stale`.execute(db);
  const [stored] = rows;
  if (!stored || stored.never) return refreshMemberCount(db, segment);
  if (stored.stale) refreshMemberCount(db, segment).catch(() => undefined);
  return stored.member_count;
}

function countQuery(projectId: string, predicate: RawBuilder<boolean>): RawBuilder<{ count: number }> {
  return sql`SELECT count(*) AS count FROM contacts WHERE project_id = ${projectId} AND ${predicate}`;
}

async function runCount(db: Db, query: RawBuilder<{ count: number }>): Promise<number> {
  const { rows } = await query.execute(db);
  return rows[0]?.count ?? 0;
}

/** Returns the cost that the planner expects of a query. Plans the query (1 ms) without running it. */
async function estimateCost(db: Db, query: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: { 'Total Cost': number } }] }>`
    EXPLAIN (FORMAT JSON) ${query}`.execute(db);
  return rows[0]?.['QUERY PLAN'][0].Plan['Total Cost'] ?? Number.POSITIVE_INFINITY;
}
