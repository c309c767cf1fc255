import { sql } from 'kysely';
import { markFiguresStaleSql } from '../../db/campaigns/stale-figures.ts';
import type { Trx } from '../../db/connection.ts';
import { storeErasedAddresses } from '../../db/contacts/erased-addresses.ts';
import { assignEarlierRecords, type ErasedPeople, eraseCopies } from '../../db/contacts/erased-copies.ts';
import { recordErasedAttachments } from '../../db/contents/erased-attachments.ts';
import { eraseEmailTexts } from '../../db/contents/erased-contents.ts';
import { clearCarbonCopies, listCarbonCopies } from '../../db/emails/carbon-copies.ts';
import { failWaitingEmailSql } from '../../db/emails/failed-emails.ts';
import { eraseExecutions } from '../../db/executions/erased-executions.ts';
import { keepErasedStops } from '../../db/sms/stops.ts';
import type { Reason } from '../../rules/emails/reasons.ts';
import { computeAddressHash } from '../../rules/emails/suppression.ts';
import type { OutboxRow } from '../../rules/outbox.ts';

const CONTACT_DELETED: Reason = 'contact_deleted';

export interface DeletedContacts {
  /** The `ids` that were contacts of the project. */
  ids: string[];
  outbox: OutboxRow[];
}

/**
 * Erases contacts. Ends their executions, and deletes their memberships in segments and their waits. Removes addresses
 * and personal data from records that stay (executions, emails, SMS, events, suppressions). Locks the contacts
 * first. A concurrent writer has then either committed, so that its rows are erased here, or it finds no contact
 * afterwards (`lockContacts`). Safe to run twice. Source: contract §3.4, §9.
 */
export async function deleteContacts(
  trx: Trx,
  p: { projectId: string; ids: string[]; suppressionKey: Buffer },
): Promise<DeletedContacts> {
  const { rows } = await sql<{ id: string; email: string }>`
    SELECT id, email FROM contacts WHERE project_id = ${p.projectId} AND id = ANY(${p.ids}::uuid[])
    ORDER BY id FOR UPDATE
  `.execute(trx);
  const ids = rows.map((row) => row.id);
  if (ids.length === 0) return { ids, outbox: [] };
  const outbox = await eraseExecutions(trx, {
    projectId: p.projectId,
    where: sql<boolean>`contact_id = ANY(${ids}::uuid[])`,
  });
  const contacts = { projectId: p.projectId, contactIds: ids };
  const emails = await storeErasedAddresses(trx, p.suppressionKey, { projectId: p.projectId, contacts: rows });
  const phones = await keepErasedStops(trx, p.suppressionKey, contacts);
  const found = { ...contacts, emails, phones };
  await assignEarlierRecords(trx, found);
  const people: ErasedPeople = { ...found, carbonCopies: await listCarbonCopies(trx, contacts) };
  await eraseCopies(trx, people);
  await anonymizeMessages(trx, people);
  await deleteMemberships(trx, contacts);
  await anonymizeSuppressions(trx, {
    projectId: p.projectId,
    hashes: emails.map((email) => computeAddressHash(p.suppressionKey, email)),
  });
  await sql`DELETE FROM contacts WHERE project_id = ${p.projectId} AND id = ANY(${ids}::uuid[])`.execute(trx);
  return { ids, outbox };
}

async function anonymizeMessages(trx: Trx, p: ErasedPeople): Promise<void> {
  const { projectId, contactIds } = p;
  await eraseEmailTexts(trx, p);
  await recordErasedAttachments(trx, p);
  if (p.carbonCopies.length > 0) await eraseCarbonCopies(trx, { projectId, emailIds: p.carbonCopies });
  // The Message-ID of an inbound email, or one that an application has set, is personal data, because it often contains
  // the name of a computer or an address.
  // Emails that were not sent fail with the reason `contact_deleted`. A worker that is sending an email at this moment
  // has the address in memory, and records the result afterwards, without personal data (`recordEmailResults`).
  await sql`
    WITH erased AS (
    UPDATE emails SET contact_id = NULL, to_email = NULL, to_name = NULL, address_without_contact = NULL, variables = NULL,
      options = NULL,
      ${failWaitingEmailSql(CONTACT_DELETED)},
      error = NULL, received_digest = NULL,
      provider_message_id = CASE WHEN source_type <> 'INBOUND' AND (options ?| ARRAY['messageId', 'original']) IS NOT TRUE
        THEN provider_message_id END
    WHERE project_id = ${projectId} AND contact_id = ANY(${contactIds}::uuid[])
    RETURNING id, campaign_id, project_id, old.status)
    ${markFiguresStaleSql(sql`SELECT * FROM erased WHERE status IN ('PENDING', 'HELD')`)}
  `.execute(trx);
  await sql`
    UPDATE sms_messages SET contact_id = NULL, to_phone = '', body = '',
      status = CASE WHEN status = 'PENDING' THEN 'FAILED' ELSE status END,
      reason = CASE WHEN status = 'PENDING' THEN ${CONTACT_DELETED} ELSE reason END,
      error = NULL
    WHERE project_id = ${projectId} AND contact_id = ANY(${contactIds}::uuid[])
  `.execute(trx);
  await sql`
    UPDATE events SET contact_id = NULL, data = CASE WHEN data IS NULL THEN NULL ELSE '{}'::jsonb END
    WHERE project_id = ${projectId} AND contact_id = ANY(${contactIds}::uuid[])
  `.execute(trx);
}

/**
 * Removes the text of emails from their carbon copies. Without this, the copies would keep the variables of the erased
 * contact.
 */
async function eraseCarbonCopies(trx: Trx, p: { projectId: string; emailIds: string[] }): Promise<void> {
  await eraseEmailTexts(trx, p);
  await recordErasedAttachments(trx, p);
  await clearCarbonCopies(trx, { projectId: p.projectId, ids: p.emailIds });
}

async function deleteMemberships(trx: Trx, p: { projectId: string; contactIds: string[] }): Promise<void> {
  for (const table of ['execution_waits', 'segment_members', 'back_in_stock_waits', 'frequency_slots']) {
    await sql`
      DELETE FROM ${sql.table(table)} WHERE project_id = ${p.projectId} AND contact_id = ANY(${p.contactIds}::uuid[])
    `.execute(trx);
  }
}

/**
 * Removes the address from suppressions. The hash of the address stays, so the suppressions still block email to it.
 */
async function anonymizeSuppressions(trx: Trx, p: { projectId: string; hashes: Buffer[] }): Promise<void> {
  await sql`
    UPDATE suppressions SET email = NULL WHERE project_id = ${p.projectId} AND address_hash = ANY(${p.hashes}::bytea[])
  `.execute(trx);
}
