import { type Kysely, sql } from 'kysely';

/**
 * Adds the execution whose step sent an SMS. Null for an SMS sent through the API, and for earlier SMS. Emails have
 * such a column too. Neither is a foreign key, because the messages outlive the execution.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE sms_messages ADD COLUMN execution_id uuid`.execute(db);
  await sql`
    CREATE INDEX sms_messages_execution ON sms_messages (execution_id, id) WHERE execution_id IS NOT NULL
  `.execute(db);
}
