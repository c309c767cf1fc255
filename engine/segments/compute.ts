/** Updates the stored members of a tracked segment. Records one event for each contact that enters or leaves. */
import { sql } from 'kysely';
import type { Db, Trx } from '../../db/connection.ts';
import { lockContacts } from '../../db/contacts/locks.ts';
import { segmentPredicate } from '../../db/segments/contacts.ts';
import { updateMemberCount } from '../../db/segments/members.ts';
import { getSegment, lockSegment, type Segment } from '../../db/segments/segments.ts';
import { inTransaction } from '../../db/transaction.ts';
import { AppError } from '../../rules/errors.ts';
import { toSegmentEventName } from '../../rules/events/event-names.ts';
import { collectReferences } from '../../rules/filters/references.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { recordEvents } from '../events/record-events.ts';

/**
 * The number of contacts in one transaction. The number is large enough to make the commit worthwhile, and small enough
 * that the contacts' rows are locked for only about 100 ms.
 */
const PAGE_CONTACTS = 1_000;
/** The maximum number of differences that one query finds; their ids need a few MB. */
const PASS_CONTACTS = 50_000;

export interface ComputedSegment {
  added: number;
  removed: number;
  /** The number of members afterwards. */
  total: number;
}

export interface ComputeOptions {
  projectId: string;
  segmentId: string;
  /** Called after each commit with the rows to pass to `outbox.wake`. An activity can heartbeat here. */
  onPage?: (outbox: OutboxRow[]) => void;
}

/**
 * Computes the members of a tracked segment. First searches the project for contacts that may have entered or left. For
 * each page of these contacts, a transaction then locks the segment and evaluates the contacts again. The same
 * transaction writes the member rows and the events. Every change therefore has exactly one event, even if several runs
 * overlap or a process is killed. The next run completes an interrupted run. Source: contract §5, §8.2.
 * @throws AppError NOT_FOUND, BAD_REQUEST when the segment is not tracked
 */
export async function computeSegment(db: Db, options: ComputeOptions): Promise<ComputedSegment> {
  const ref = { projectId: options.projectId, id: options.segmentId };
  const sums = { added: 0, removed: 0 };
  const segment = assertTracked(await getSegment(db, ref));
  for (let after: string | undefined, more = true; more; ) {
    const ids = await findDifferences(db, segment, after);
    for (let start = 0; start < ids.length; start += PAGE_CONTACTS) {
      const page = await inTransaction(db, (trx) => computePage(trx, ref, ids.slice(start, start + PAGE_CONTACTS)));
      sums.added += page.added;
      sums.removed += page.removed;
      options.onPage?.(page.outbox);
    }
    after = ids.at(-1);
    more = ids.length === PASS_CONTACTS;
  }
  return { ...sums, total: await markComputed(db, segment) };
}

function assertTracked(segment: Segment): Segment {
  if (segment.type === 'DYNAMIC' && segment.trackMembership) return segment;
  throw new AppError('BAD_REQUEST', {
    message: 'Only a DYNAMIC segment with trackMembership is computed.',
    suggestion: 'Set trackMembership to true, or use POST /segments/{id}/refresh to count the members of the segment.',
  });
}

/**
 * Lists the contacts whose stored membership differs from the condition, and the members that are no longer contacts.
 * Ordered by id.
 */
async function findDifferences(db: Db, segment: Segment, after: string | undefined): Promise<string[]> {
  const { projectId, id } = segment;
  const predicate = await segmentPredicate(db, segment, new Date());
  const { rows } = await sql<{ contact_id: string }>`
    WITH matching AS (SELECT id FROM contacts WHERE project_id = ${projectId} AND ${predicate}),
      members AS (SELECT contact_id FROM segment_members WHERE segment_id = ${id} AND project_id = ${projectId})
    SELECT coalesce(matching.id, members.contact_id) AS contact_id
    FROM matching FULL JOIN members ON members.contact_id = matching.id
    WHERE (matching.id IS NULL OR members.contact_id IS NULL)
      AND ${after ? sql`coalesce(matching.id, members.contact_id) > ${after}::uuid` : sql`true`}
    ORDER BY 1 LIMIT ${PASS_CONTACTS}`.execute(db);
  return rows.map((row) => row.contact_id);
}

/** Updates the members of one page. Locks contacts before their member rows, as the deletion of a contact does. */
async function computePage(
  trx: Trx,
  ref: { projectId: string; id: string },
  ids: string[],
): Promise<{ added: number; removed: number; outbox: OutboxRow[] }> {
  const segment = assertTracked(await lockSegment(trx, ref));
  await lockContacts(trx, { projectId: ref.projectId, ids });
  const predicate = await segmentPredicate(trx, segment, new Date());
  const matching = sql`SELECT id FROM contacts WHERE project_id = ${ref.projectId} AND id = ANY(${ids}::uuid[]) AND ${predicate}`;
  const entered = await sql<{ contact_id: string }>`
    INSERT INTO segment_members (segment_id, contact_id, project_id)
    SELECT ${ref.id}, id, ${ref.projectId} FROM (${matching}) AS matching
    ON CONFLICT DO NOTHING RETURNING contact_id`.execute(trx);
  const removedMembers = await sql<{ contact_id: string; known: boolean }>`
    DELETE FROM segment_members m WHERE m.segment_id = ${ref.id} AND m.project_id = ${ref.projectId}
      AND m.contact_id = ANY(${ids}::uuid[]) AND m.contact_id NOT IN (${matching})
    RETURNING m.contact_id, EXISTS (SELECT FROM contacts c WHERE c.id = m.contact_id) AS known`.execute(trx);
  const exited = removedMembers.rows.filter((row) => row.known);
  const changedIds = [...entered.rows, ...exited].map((row) => row.contact_id);
  const causes = await findCauses(trx, ref, changedIds);
  const untrustedContacts = await findContactsMovedByUntrusted(trx, segment, changedIds);
  const createMemberEvents = (rows: { contact_id: string }[], change: 'entry' | 'exit') =>
    rows.map(({ contact_id: id }) => ({
      ...createMemberEvent(segment, id, change),
      causeId: causes.get(id) ?? null,
      untrusted: false,
      untrustedTrigger: untrustedContacts.has(id),
    }));
  const entries = createMemberEvents(entered.rows, 'entry');
  const exits = createMemberEvents(exited, 'exit');
  const { outbox } = await recordEvents(trx, { projectId: ref.projectId, events: [...entries, ...exits] });
  return { added: entries.length, removed: removedMembers.rows.length, outbox };
}

/**
 * Finds, for each contact, the execution whose step last changed the contact after the previous computation. This
 * execution is the likely reason why the contact enters or leaves the segment, so the event stores it as `causeId`. The
 * limit on chains of executions (`MAX_DEPTH` in `engine/automations/start.ts`) counts causes. Without the cause, two
 * workflows that move contacts in and out of a segment would start each other in every round of segments, forever.
 */
async function findCauses(
  trx: Trx,
  ref: { projectId: string; id: string },
  contactIds: string[],
): Promise<Map<string, string>> {
  if (contactIds.length === 0) return new Map();
  const { rows } = await sql<{ id: string; changedBy: string }>`
    SELECT c.id, c.changed_by AS "changedBy" FROM contacts c JOIN segments s ON s.id = ${ref.id} AND s.project_id = c.project_id
    WHERE c.project_id = ${ref.projectId} AND c.id = ANY(${contactIds}::uuid[]) AND c.changed_by IS NOT NULL
      AND c.updated_at >= coalesce(s.computed_at, '-infinity')`.execute(trx);
  return new Map(rows.map((row) => [row.id, row.changedBy]));
}

/**
 * Finds the contacts that an unauthenticated caller may have moved into or out of the segment, because the condition
 * reads data or events that such a caller wrote. If the condition uses other segments, all data of the contact is
 * assumed to be read.
 */
async function findContactsMovedByUntrusted(
  trx: Trx,
  { projectId, condition }: Segment,
  contactIds: string[],
): Promise<Set<string>> {
  if (contactIds.length === 0 || !condition) return new Set();
  const { dataFields, eventNames, segmentIds } = collectReferences(condition);
  const keys = dataFields.map((path) => path.split('.')[0] ?? path);
  const { rows } = await sql<{ id: string }>`
    SELECT c.id FROM contacts c
    WHERE c.project_id = ${projectId} AND c.id = ANY(${contactIds}::uuid[]) AND (c.untrusted_keys && ${keys}::text[]
      OR (${segmentIds.length > 0}::boolean AND c.untrusted_keys <> '{}')
      OR EXISTS (SELECT FROM events e WHERE e.project_id = ${projectId} AND e.name = ANY(${eventNames}::text[])
        AND e.contact_id = c.id AND (e.untrusted OR e.swayed)))`.execute(trx);
  return new Set(rows.map((row) => row.id));
}

function createMemberEvent(segment: Segment, contactId: string, change: 'entry' | 'exit') {
  const data = { segmentId: segment.id, segmentName: segment.name };
  return { contactId, name: toSegmentEventName(segment.slug, change), data };
}

/**
 * Sets the time of the computation, unless the condition has changed since it was read. Returns the number of members.
 */
async function markComputed(db: Db, segment: Segment): Promise<number> {
  return inTransaction(db, async (trx) => {
    const { projectId, id } = await lockSegment(trx, segment);
    await sql`
      UPDATE segments SET computed_at = now() WHERE project_id = ${projectId} AND id = ${id}
        AND condition = ${JSON.stringify(segment.condition)}::jsonb`.execute(trx);
    return updateMemberCount(trx, { projectId, id });
  });
}
