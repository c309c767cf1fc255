import { sql } from 'kysely';
import { NO_TEXT } from '../../rules/content/email-text.ts';
import type { Trx } from '../connection.ts';
import { type NewContent, saveContents } from './contents.ts';

interface Sender {
  type: NewContent['type'];
  from: string;
  fromName: string | null;
}

/** Emails of erased contacts: all emails of the contacts, or single ones. */
export type ErasedEmails = { projectId: string } & ({ contactIds: string[] } | { emailIds: string[] });

/** SQL condition that an email `e` belongs to the erased emails. */
export function isErasedEmailSql(p: ErasedEmails) {
  const emails =
    'emailIds' in p ? sql`e.id = ANY(${p.emailIds}::uuid[])` : sql`e.contact_id = ANY(${p.contactIds}::uuid[])`;
  return sql<boolean>`e.project_id = ${p.projectId} AND ${emails}`;
}

/**
 * Removes the text from transactional emails without a template to these contacts, and from emails that these contacts
 * sent to the service. The subject and body of such an email can contain personal data. Emails of templates, campaigns
 * and workflows keep their text, because other emails share it. Call this function before the emails lose their
 * contact. Other emails may share the content rows, so these rows are recorded in `erased_contents` for
 * `removeErasedContents`. Source: contract §3.4 Erasure.
 */
export async function eraseEmailTexts(trx: Trx, p: ErasedEmails) {
  const { rows: senders } = await sql<Sender>`
    SELECT DISTINCT ${typeAndSender} FROM emails e JOIN contents k ON k.id = e.content_id WHERE ${isWrittenForOneContact(p)}
  `.execute(trx);
  if (senders.length === 0) return;
  await noteContents(trx, p);
  const { projectId } = p;
  const ids = await saveContents(
    trx,
    senders.map((sender) => ({ ...NO_TEXT, ...sender, projectId, templateId: null })),
  );
  await sql`
    UPDATE emails SET content_id = blank.id
    FROM (
      SELECT e.id AS email_id, u.id
      FROM emails e JOIN contents k ON k.id = e.content_id
      JOIN unnest(${senders.map((s) => s.type)}::text[], ${senders.map((s) => s.from)}::text[],
        ${senders.map((s) => s.fromName)}::text[], ${ids}::uuid[]) AS u (type, from_email, from_name, id)
        ON (u.type, u.from_email) = (k.type, ${senderAddress}) AND u.from_name IS NOT DISTINCT FROM ${senderName}
      WHERE ${isWrittenForOneContact(p)}
    ) blank
    WHERE emails.id = blank.email_id
  `.execute(trx);
}

/**
 * Records contents in `erased_contents`. DO UPDATE locks an existing row: pruning must not delete the row before it
 * sees that these emails are erased (`lockNotes` in `db/contents/removal.ts`).
 */
async function noteContents(trx: Trx, p: ErasedEmails): Promise<void> {
  await sql`
    INSERT INTO erased_contents AS n (content_id, project_id)
    SELECT DISTINCT e.content_id, e.project_id FROM emails e JOIN contents k ON k.id = e.content_id WHERE ${isWrittenForOneContact(p)}
    ORDER BY e.content_id
    ON CONFLICT (content_id) DO UPDATE SET project_id = n.project_id
  `.execute(trx);
}

/**
 * SQL for the sender's address. The SQL returns an empty address for a received email, whose sender is the erased
 * person.
 */
const senderAddress = sql<string>`CASE WHEN e.source_type = 'INBOUND' THEN '' ELSE k.from_email END`;
const senderName = sql<string | null>`CASE WHEN e.source_type = 'INBOUND' THEN NULL ELSE k.from_name END`;
const typeAndSender = sql`k.type, ${senderAddress} AS "from", ${senderName} AS "fromName"`;

function isWrittenForOneContact(p: ErasedEmails) {
  return sql<boolean>`${isErasedEmailSql(p)}
    AND e.source_type IN ('TRANSACTIONAL', 'INBOUND') AND k.template_id IS NULL`;
}
