import { type RawBuilder, sql } from 'kysely';
import { parseField } from '../../rules/filters/fields.ts';
import type { Condition, Filter } from '../../rules/filters/filters.ts';
import { readValueAt } from '../../rules/filters/values.ts';
import type { Db } from '../connection.ts';
import { type Contact, getContact } from '../contacts/contacts.ts';
import { compileCondition, type SegmentSources } from './filter-sql.ts';
import type { Segment } from './segments.ts';
import { loadConditionSources } from './sources.ts';

/** Filters per statement. Each filter is a column of the query, and the planning times of the columns add up. */
const FILTERS_AT_A_TIME = 50;

/** A filter of a segment, with the contact's value for it. */
export interface ExplainedFilter extends Filter {
  /** Path of the filter in the condition, such as `groups.0.filters.1`. */
  path: string;
  /**
   * The contact's value for the filter: the value of the field. For an event or email filter, it is the time of the
   * last event or email; for a segment filter, whether the contact is a member. Null if there is no value, and for
   * other filters, such as a topic.
   */
  contactValue: unknown;
  holds: boolean;
}

export interface SegmentExplanation {
  /** True if the contact is in the segment now. */
  holds: boolean;
  /**
   * True if the contact is a stored member. The stored members of a tracked segment may be some minutes old. Null
   * unless the segment is STATIC or tracked.
   */
  member: boolean | null;
  /** The filters in the order of the condition. */
  filters: ExplainedFilter[];
}

/**
 * Explains why a contact is in a segment or not. Evaluates each filter with the same SQL that determines the segment's
 * members. A STATIC segment has one filter, its membership.
 * @throws AppError NOT_FOUND, also for a contact of another project; CONFLICT for segments that refer to each other in
 * a cycle
 */
export async function explainSegment(db: Db, segment: Segment, contactId: string): Promise<SegmentExplanation> {
  const { projectId } = segment;
  const contact = await getContact(db, { projectId, id: contactId });
  const member = await isMember(db, segment, contact.id);
  const isStored = segment.type === 'STATIC' || segment.trackMembership;
  if (!segment.condition) {
    const filter = { field: `segment.${segment.id}`, operator: 'memberOf' as const };
    return { holds: member, member, filters: [{ ...filter, path: 'members', contactValue: member, holds: member }] };
  }
  const filters = listFilters(segment.condition);
  const request = {
    projectId,
    contact,
    now: new Date(),
    ...(await loadConditionSources(db, { projectId, condition: segment.condition })),
  };
  const decided: ExplainedFilter[] = [];
  for (let at = 0; at < filters.length; at += FILTERS_AT_A_TIME) {
    decided.push(...(await evaluateFilters(db, filters.slice(at, at + FILTERS_AT_A_TIME), request)));
  }
  const byPath = new Map(decided.map(({ path, holds }) => [path, holds]));
  const holds = evaluateFromResults(segment.condition, (path) => byPath.get(path) === true, '');
  return { holds, member: isStored ? member : null, filters: decided };
}

type FilterAtPath = { path: string; filter: Filter };

function listFilters({ groups }: Condition, path = ''): FilterAtPath[] {
  return groups.flatMap((group, n) => {
    const here = `${path}groups.${n}.`;
    const own = group.filters.map((filter, at) => ({ path: `${here}filters.${at}`, filter }));
    return [...own, ...(group.conditions ? listFilters(group.conditions, `${here}conditions.`) : [])];
  });
}

function evaluateFromResults({ logic, groups }: Condition, holds: (path: string) => boolean, path: string): boolean {
  const each = groups.map((group, n) => {
    const here = `${path}groups.${n}.`;
    const own = group.filters.every((_, at) => holds(`${here}filters.${at}`));
    return own && (!group.conditions || evaluateFromResults(group.conditions, holds, `${here}conditions.`));
  });
  return logic === 'AND' ? each.every(Boolean) : each.some(Boolean);
}

interface ExplainRequest {
  projectId: string;
  contact: Contact;
  now: Date;
  segments: SegmentSources;
  zone: string | undefined;
}

/** Evaluates all filters in one statement. Compiles each filter separately, as a condition with one filter. */
async function evaluateFilters(db: Db, placed: FilterAtPath[], request: ExplainRequest): Promise<ExplainedFilter[]> {
  const { projectId, contact, now, segments, zone } = request;
  const columns = placed.flatMap(({ filter }, n) => {
    const alone: Condition = { logic: 'AND', groups: [{ filters: [filter] }] };
    const predicate = compileCondition(alone, { projectId, now, segments, zone });
    const value = contactValueSql(filter, request);
    return [
      sql`(${predicate}) IS TRUE AS ${sql.ref(`h${n}`)}`,
      ...(value ? [sql`${value} AS ${sql.ref(`v${n}`)}`] : []),
    ];
  });
  const { rows } = await sql<Record<string, unknown>>`
    SELECT ${sql.join(columns)} FROM contacts WHERE project_id = ${projectId} AND id = ${contact.id}
  `.execute(db);
  const row = rows[0] ?? {};
  return placed.map(({ path, filter }, n) => {
    const holds = row[`h${n}`] === true;
    return { ...filter, path, contactValue: getContactValue(filter, { contact, column: row[`v${n}`], holds }), holds };
  });
}

/** Returns SQL for a value of the contact that requires a query, such as the time of the last event. */
function contactValueSql(
  { field, operator }: Filter,
  { projectId, contact }: ExplainRequest,
): RawBuilder<unknown> | undefined {
  const ref = parseField(field, operator, 'audience');
  if (ref?.kind === 'event') {
    return sql`(SELECT max(created_at) FROM events WHERE project_id = ${projectId} AND name = ${ref.name} AND contact_id = ${contact.id})`;
  }
  if (ref?.kind === 'activity') {
    return sql`(SELECT max(${sql.ref(`${ref.activity}_at`)}) FROM emails
      WHERE project_id = ${projectId} AND contact_id = ${contact.id} AND mode = 'live')`;
  }
  return undefined;
}

function getContactValue(
  { field, operator }: Filter,
  { contact, column, holds }: { contact: Contact; column: unknown; holds: boolean },
): unknown {
  const ref = parseField(field, operator, 'audience');
  switch (ref?.kind) {
    case 'email':
    case 'subscribed':
      return contact[ref.kind];
    case 'createdAt':
    case 'updatedAt':
      return contact[ref.kind].toISOString();
    case 'data':
      return readValueAt(contact.data, ref.path) ?? null;
    case 'event':
    case 'activity':
      return column instanceof Date ? column.toISOString() : null;
    case 'segment':
      return holds === (operator === 'memberOf');
    default:
      return null;
  }
}

async function isMember(db: Db, { projectId, id }: Segment, contactId: string): Promise<boolean> {
  const { rows } = await sql`
    SELECT 1 FROM segment_members WHERE segment_id = ${id} AND project_id = ${projectId} AND contact_id = ${contactId}
  `.execute(db);
  return rows.length > 0;
}
