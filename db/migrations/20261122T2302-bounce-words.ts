import { type Kysely, sql } from 'kysely';

/** Renames bounces of mailboxes to the API's values: `dead_mailbox` and `mailbox_for_now`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    UPDATE emails SET reason = CASE reason WHEN 'bounced:dead' THEN 'bounced:dead_mailbox' ELSE 'bounced:mailbox_for_now' END
    WHERE reason IN ('bounced:dead', 'bounced:temporary')
  `.execute(db);
}
