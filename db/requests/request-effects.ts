import { type RawBuilder, sql } from 'kysely';
import type { AffectedRows } from '../../rules/affected-rows.ts';
import type { EmailStatus } from '../../rules/emails/email-status.ts';
import type { ExecutionStatus } from '../../rules/executions/execution.ts';
import type { SmsStatus } from '../../rules/sms/status.ts';
import type { Db } from '../connection.ts';

/** The maximum number of effects of each kind that are returned. */
const SHOWN = 100;

/** The records that a request created, as they are now. Deleted records are omitted. */
export interface RequestEffects {
  contacts: { id: string; email: string }[];
  events: { id: string; name: string; contactId: string | null }[];
  /** Executions that the request started, directly or through its events. */
  executions: { id: string; workflowId: string; workflowName: string; contactId: string; status: ExecutionStatus }[];
  /** Emails and SMS of the request itself, and of its executions. */
  emails: {
    id: string;
    contactId: string | null;
    executionId: string | null;
    to: string | null;
    status: EmailStatus;
    reason: string | null;
  }[];
  sms: { id: string; executionId: string | null; to: string; status: SmsStatus; reason: string | null }[];
}

/** Finds the records that a request created, by the ids in its log entry. Returns the first 100 of each kind. */
export async function findRequestEffects(
  db: Db,
  p: { projectId: string; made: AffectedRows | null },
): Promise<RequestEffects> {
  const { projectId, made } = p;
  const { events: eventIds = [], executions: executionIds = [], emails: emailIds = [], sms: smsIds = [] } = made ?? {};
  const contacts = await queryRows<RequestEffects['contacts'][number]>(
    db,
    sql`SELECT id, email FROM contacts
      WHERE project_id = ${projectId} AND id = ANY(${made?.contacts ?? []}::uuid[]) ORDER BY id LIMIT ${SHOWN}`,
  );
  const events = await queryRows<RequestEffects['events'][number]>(
    db,
    sql`SELECT id, name, contact_id AS "contactId" FROM events
      WHERE project_id = ${projectId} AND id = ANY(${eventIds}::uuid[]) ORDER BY id LIMIT ${SHOWN}`,
  );
  // Uses the index of the contacts' executions, because no index has the event.
  const contactIds = events.flatMap(({ contactId }) => contactId ?? []);
  const executions = await queryRows<RequestEffects['executions'][number]>(
    db,
    sql`SELECT x.id, x.workflow_id AS "workflowId", w.name AS "workflowName", x.contact_id AS "contactId", x.status
      FROM executions x JOIN workflows w ON w.id = x.workflow_id
      WHERE x.project_id = ${projectId} AND (x.id = ANY(${executionIds}::uuid[])
        OR (x.contact_id = ANY(${contactIds}::uuid[]) AND x.event_id = ANY(${eventIds}::uuid[])))
      ORDER BY x.id LIMIT ${SHOWN}`,
  );
  const runIds = executions.map(({ id }) => id);
  const emails = await queryRows<RequestEffects['emails'][number]>(
    db,
    sql`SELECT id, contact_id AS "contactId", execution_id AS "executionId", to_email AS to, status, reason FROM emails
      WHERE project_id = ${projectId} AND (id = ANY(${emailIds}::uuid[]) OR execution_id = ANY(${runIds}::uuid[]))
      ORDER BY id LIMIT ${SHOWN}`,
  );
  const sms = await queryRows<RequestEffects['sms'][number]>(
    db,
    sql`SELECT id, execution_id AS "executionId", to_phone AS to, status, reason FROM sms_messages
      WHERE project_id = ${projectId} AND (id = ANY(${smsIds}::uuid[]) OR execution_id = ANY(${runIds}::uuid[]))
      ORDER BY id LIMIT ${SHOWN}`,
  );
  return { contacts, events, executions, emails, sms };
}

async function queryRows<Row>(db: Db, query: RawBuilder<unknown>): Promise<Row[]> {
  return (await (query as RawBuilder<Row>).execute(db)).rows;
}
