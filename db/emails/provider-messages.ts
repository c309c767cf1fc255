import { type RawBuilder, sql } from 'kysely';
import type { Db, Trx } from '../connection.ts';

/**
 * Bounces come within hours, complaints within days, a few within weeks; later ones are found by headers or tags only.
 */
export const PROVIDER_MESSAGE_DAYS = 30;

/**
 * Notes the ids that the provider gave to mails of a project, in the transaction that records the mails as sent: for
 * providers that tell of mails by them (`tellsById`). A table of its own, since an index on
 * `emails.provider_message_id` would end heap-only updates of the ledger (db/migrations/20261121T0803-messages.ts). It
 * has its name from the first such provider.
 */
export async function insertProviderMessages(
  trx: Trx,
  p: { projectId: string; messages: { messageId: string; emailId: string }[] },
): Promise<void> {
  if (p.messages.length === 0) return;
  await noteProviderMessages(sql`
    SELECT u.message_id, ${p.projectId}::uuid, u.email_id
    FROM unnest(${p.messages.map((m) => m.messageId)}::text[], ${p.messages.map((m) => m.emailId)}::uuid[]) AS u (message_id, email_id)
  `).execute(trx);
}

/**
 * The same as a part of another statement; `from` selects the provider's id, project and mail. An id that is known
 * stays with its mail.
 */
export function noteProviderMessages(from: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`INSERT INTO ses_messages (message_id, project_id, email_id) ${from} ON CONFLICT (message_id) DO NOTHING`;
}

/**
 * Finds the email that the provider accepted under this id, in any project. For callers with a proof, such as a
 * signed callback.
 */
export async function findEmailIdByProviderId(db: Db, messageId: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    SELECT email_id AS id FROM ses_messages WHERE message_id = ${messageId}
  `.execute(db);
  return rows[0]?.id;
}
