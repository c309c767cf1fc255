import { type Kysely, sql } from 'kysely';

/**
 * Indexes for the parts of the activity feed that are not sorted by id. The indexes have few rows per execution or SMS,
 * and contain no column of the ledger that changes while email is sent.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE INDEX executions_completed ON executions (project_id, completed_at) WHERE completed_at IS NOT NULL
  `.execute(db);
  await sql`CREATE INDEX sms_messages_sent ON sms_messages (project_id, sent_at) WHERE sent_at IS NOT NULL`.execute(db);
  await sql`
    CREATE INDEX sms_messages_delivered ON sms_messages (project_id, delivered_at) WHERE delivered_at IS NOT NULL
  `.execute(db);
}
