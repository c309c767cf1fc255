import { sql } from 'kysely';
import type { Reason } from '../../rules/emails/reasons.ts';
import type { Trx } from '../connection.ts';

const CONTACT_DELETED: Reason = 'contact_deleted';

/**
 * Lists the cc and bcc copies of emails to these contacts. Other people got these copies, but their text and variables
 * have the contact's data. Call this function before the emails lose their contact.
 */
export async function listCarbonCopies(trx: Trx, p: { projectId: string; contactIds: string[] }): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT s.id FROM emails e JOIN emails s ON s.content_id = e.content_id AND s.source_type = 'TRANSACTIONAL'
    WHERE e.project_id = ${p.projectId} AND e.contact_id = ANY(${p.contactIds}::uuid[]) AND e.options ? 'copies'
      AND s.project_id = e.project_id AND s.id <> e.id AND s.options->'copies'->>'to' = e.id::text
    ORDER BY s.id`.execute(trx);
  return rows.map(({ id }) => id);
}

/**
 * Removes the variables, options and events of copies. Copies keep their recipients, so that the links in them still
 * work. A copy that was not sent fails, as the email itself does.
 */
export async function clearCarbonCopies(trx: Trx, p: { projectId: string; ids: string[] }): Promise<void> {
  await sql`
    UPDATE events e SET data = '{}' FROM emails s
    WHERE s.project_id = ${p.projectId} AND s.id = ANY(${p.ids}::uuid[]) AND e.contact_id = s.contact_id
      AND e.project_id = s.project_id AND e.email_id = s.id`.execute(trx);
  await sql`
    UPDATE emails SET variables = NULL, options = jsonb_build_object('copies', options->'copies'),
      status = CASE WHEN status IN ('PENDING', 'HELD') THEN 'FAILED' ELSE status END,
      reason = CASE WHEN status IN ('PENDING', 'HELD') THEN ${CONTACT_DELETED} ELSE reason END
    WHERE project_id = ${p.projectId} AND id = ANY(${p.ids}::uuid[])`.execute(trx);
}
