import { sql } from 'kysely';
import { computeAddressHash } from '../../rules/emails/suppression.ts';
import { AppError } from '../../rules/errors.ts';
import type { Condition } from '../../rules/filters/filters.ts';
import type { Db } from '../connection.ts';
import { compileCondition } from '../segments/filter-sql.ts';
import { loadConditionSources } from '../segments/sources.ts';
import type { ContactRef } from './contacts.ts';

/**
 * Rows per page; a page of executions has a tenth of this number. The memory that an export needs does not depend on
 * the number of rows.
 */
const PAGE_ROWS = 500;
/** Segments per query. Each segment is one column of the query. */
const SEGMENTS_AT_A_TIME = 50;

/** A record of the export. Instants are ISO 8601 text. */
export type ExportedRecord = Record<string, unknown> & { id: string };

/** Lists the suppressions of an address, including suppressions of which only the hash is stored. */
export async function exportContactSuppressions(
  db: Db,
  key: Buffer,
  p: { projectId: string; email: string },
): Promise<ExportedRecord[]> {
  const { rows } = await sql<ExportedRecord>`
    SELECT id, reason, source, actor, created_at AS "createdAt" FROM suppressions
    WHERE project_id = ${p.projectId} AND address_hash = ${computeAddressHash(key, p.email)} ORDER BY id
  `.execute(db);
  return rows;
}

/** Returns the next page of a contact's SMS, oldest first, starting after the id `after`. */
export async function exportContactSms(db: Db, p: ContactRef & { after?: string }): Promise<ExportedRecord[]> {
  const { rows } = await sql<ExportedRecord>`
    SELECT id, to_phone AS "to", from_phone AS "from", body, status, created_at AS "createdAt", sent_at AS "sentAt",
      delivered_at AS "deliveredAt"
    FROM sms_messages WHERE project_id = ${p.projectId} AND contact_id = ${p.id} AND id > ${p.after ?? FIRST}::uuid
    ORDER BY id LIMIT ${PAGE_ROWS}
  `.execute(db);
  return rows;
}

/** Returns the next page of a contact's events, oldest first, starting after the id `after`. */
export async function exportContactEvents(db: Db, p: ContactRef & { after?: string }): Promise<ExportedRecord[]> {
  const { rows } = await sql<ExportedRecord>`
    SELECT id, name, coalesce(data, '{}') AS data, email_id AS "emailId", actor, created_at AS "createdAt"
    FROM events WHERE project_id = ${p.projectId} AND contact_id = ${p.id} AND id > ${p.after ?? FIRST}::uuid
    ORDER BY id LIMIT ${PAGE_ROWS}
  `.execute(db);
  return rows;
}

/**
 * Returns the next page of a contact's executions with their visits to steps, oldest first, starting after the id
 * `after`. Omits the outputs of the visits, such as the responses of webhooks.
 */
export async function exportContactExecutions(db: Db, p: ContactRef & { after?: string }): Promise<ExportedRecord[]> {
  const { rows } = await sql<ExportedRecord>`
    SELECT x.id, x.workflow_id AS "workflowId", w.name AS "workflowName", x.status, x.exit_reason AS "exitReason", x.error,
      x.event_name AS "eventName", x.event, x.context, x.started_at AS "startedAt", x.completed_at AS "completedAt",
      coalesce((SELECT jsonb_agg(jsonb_build_object('visit', s.visit, 'stepId', s.step_id, 'stepName', t.name, 'type', s.type,
          'status', s.status, 'error', s.error, 'startedAt', s.started_at, 'completedAt', s.completed_at) ORDER BY s.visit)
        FROM execution_steps s LEFT JOIN workflow_steps t ON t.id = s.step_id WHERE s.execution_id = x.id), '[]') AS steps
    FROM executions x JOIN workflows w ON w.id = x.workflow_id
    WHERE x.project_id = ${p.projectId} AND x.contact_id = ${p.id} AND x.id > ${p.after ?? FIRST}::uuid
    ORDER BY x.id LIMIT ${PAGE_ROWS / 10}
  `.execute(db);
  return rows;
}

/** Lists the segments that a contact is in now. */
export async function exportContactSegments(db: Db, { projectId, id }: ContactRef): Promise<ExportedRecord[]> {
  const { rows: segments } = await sql<ExportedRecord>`
    SELECT id, name, slug, type FROM segments WHERE project_id = ${projectId} ORDER BY id
  `.execute(db);
  const found: ExportedRecord[] = [];
  for (let at = 0; at < segments.length; at += SEGMENTS_AT_A_TIME) {
    const some = segments.slice(at, at + SEGMENTS_AT_A_TIME);
    const columns = await Promise.all(
      some.map(
        async (segment, n) =>
          sql`(${await isSegmentMember(db, { projectId, segmentId: segment.id })}) IS TRUE AS ${sql.ref(`s${n}`)}`,
      ),
    );
    const { rows } = await sql<Record<string, boolean>>`
      SELECT ${sql.join(columns)} FROM contacts WHERE project_id = ${projectId} AND id = ${id}
    `.execute(db);
    found.push(...some.filter((_, n) => rows[0]?.[`s${n}`] === true));
  }
  return found;
}

/**
 * Returns the SQL condition that a contact is in a segment. Segments that refer to each other in a cycle have no
 * members.
 */
async function isSegmentMember(db: Db, { projectId, segmentId }: { projectId: string; segmentId: string }) {
  const condition: Condition = {
    logic: 'AND',
    groups: [{ filters: [{ field: `segment.${segmentId}`, operator: 'memberOf' }] }],
  };
  const { segments, zone } = await loadConditionSources(db, { projectId, condition });
  try {
    return compileCondition(condition, { projectId, now: new Date(), segments, zone });
  } catch (error) {
    if (error instanceof AppError) return sql<boolean>`false`;
    throw error;
  }
}

const FIRST = '00000000-0000-0000-0000-000000000000';
