import { sql } from 'kysely';
import type { Reason } from '../../rules/emails/reasons.ts';
import type { Trx } from '../connection.ts';
import { failWaitingEmailSql } from './failed-emails.ts';

const CONTACT_DELETED: Reason = 'contact_deleted';

/**
 * Lists the ids of the cc and bcc copies of emails to these contacts. The copies were sent to other people, but their
 * text and variables contain data of these contacts. Locks the copies, so that the result of an attempt is recorded
 * either before the erasure or after it. Call this function before the emails lose their contact.
 */
export async function listCarbonCopies(trx: Trx, p: { projectId: string; contactIds: string[] }): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT s.id FROM emails e JOIN emails s ON s.content_id = e.content_id AND s.source_type = 'TRANSACTIONAL'
    WHERE e.project_id = ${p.projectId} AND e.contact_id = ANY(${p.contactIds}::uuid[]) AND e.options ? 'copies'
      AND s.project_id = e.project_id AND s.id <> e.id AND s.options->'copies'->>'to' = e.id::text
    ORDER BY s.id FOR NO KEY UPDATE OF s`.execute(trx);
  return rows.map(({ id }) => id);
}

/**
 * Removes the variables of copies, their options except `copies`, and the data of their events. Copies keep their
 * recipients, so that the links in the copies still work. A copy that is PENDING or HELD fails, as the contact's email
 * does. `erased` tells the worker that is sending a copy at this moment that the text of the copy was erased.
 */
export async function clearCarbonCopies(trx: Trx, p: { projectId: string; ids: string[] }): Promise<void> {
  await sql`
    UPDATE events e SET data = '{}' FROM emails s
    WHERE s.project_id = ${p.projectId} AND s.id = ANY(${p.ids}::uuid[]) AND e.contact_id = s.contact_id
      AND e.project_id = s.project_id AND e.email_id = s.id`.execute(trx);
  await sql`
    UPDATE emails SET variables = NULL, options = jsonb_build_object('copies', options->'copies', 'erased', true),
      ${failWaitingEmailSql(CONTACT_DELETED)}
    WHERE project_id = ${p.projectId} AND id = ANY(${p.ids}::uuid[])`.execute(trx);
}
