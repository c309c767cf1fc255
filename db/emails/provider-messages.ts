import { type RawBuilder, sql } from 'kysely';
import type { Db, Trx } from '../connection.ts';

/**
 * Days for which ids are kept. Bounces arrive within hours, complaints within days, and a few within weeks. Later
 * reports are matched to emails only by headers or tags.
 */
export const PROVIDER_MESSAGE_DAYS = 30;

/**
 * Stores the ids that the provider gave to emails of a project, in the transaction that records the emails as sent.
 * It is for providers whose reports identify emails by these ids (`tellsById`). The ids have their own table, because
 * an index on `emails.provider_message_id` would end heap-only updates of the ledger
 * (db/migrations/20261121T0803-messages.ts). The table is named after the first such provider.
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
 * Returns the statement of `insertProviderMessages` as a part of another one. `from` selects the provider's id, the
 * project and the email. A known id stays with its email.
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
