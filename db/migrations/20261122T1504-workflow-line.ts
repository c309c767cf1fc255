import { type Kysely, sql } from 'kysely';

/** Emails of workflows that a send rate delays form a queue. The column stores when its last email is due. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE send_buckets ADD COLUMN workflow_line_at timestamptz`.execute(db);
}
