import { type RawBuilder, sql } from 'kysely';
import type { Db, Trx } from '../connection.ts';

/**
 * The number of days for which message ids are kept. Bounces arrive within hours, complaints within days, and a few
 * within weeks. After that, only headers or tags in a report can show to which email it belongs.
 */
export const PROVIDER_MESSAGE_DAYS = 30;

/**
 * Stores the message ids that the provider assigned to emails of a project, in the transaction that records the emails
 * as sent. Used for providers whose reports identify emails by these ids (`tellsById`). The ids are in a separate
 * table, because an index on `emails.provider_message_id` would prevent heap-only updates of the ledger
 * (db/migrations/20261121T0803-messages.ts). The table is named after SES, the first such provider.
 */
export async function insertProviderMessages(
  trx: Trx,
  p: { projectId: string; messages: { messageId: string; emailId: string }[] },
): Promise<void> {
  if (p.messages.length === 0) return;
  await insertProviderMessagesSql(sql`
    SELECT u.message_id, ${p.projectId}::uuid, u.email_id
    FROM unnest(${p.messages.map((m) => m.messageId)}::text[], ${p.messages.map((m) => m.emailId)}::uuid[]) AS u (message_id, email_id)
  `).execute(trx);
}

/**
 * Returns the statement of `insertProviderMessages`, for use within another statement. `from` selects the provider's
 * id, the project and the email. If the id is already stored, its row does not change.
 */
export function insertProviderMessagesSql(from: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`INSERT INTO ses_messages (message_id, project_id, email_id) ${from} ON CONFLICT (message_id) DO NOTHING`;
}

/**
 * Finds the email that the provider accepted with this message id, in any project. Only for callers that have verified
 * the id, such as by a signed callback.
 */
export async function findEmailIdByProviderId(db: Db, messageId: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    SELECT email_id AS id FROM ses_messages WHERE message_id = ${messageId}
  `.execute(db);
  return rows[0]?.id;
}
