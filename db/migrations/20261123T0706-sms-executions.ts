import { type Kysely, sql } from 'kysely';

/**
 * The execution whose step sent an SMS; null for one by the API, and for those from before. A mail knows its own as
 * well, and neither has a foreign key: they outlive the execution.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE sms_messages ADD COLUMN execution_id uuid`.execute(db);
  await sql`
    CREATE INDEX sms_messages_execution ON sms_messages (execution_id, id) WHERE execution_id IS NOT NULL
  `.execute(db);
}
