import { type Kysely, sql } from 'kysely';

/**
 * Workflow emails that wait because of a send rate form a queue. The column stores when the last email of the queue is
 * due.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE send_buckets ADD COLUMN workflow_line_at timestamptz`.execute(db);
}
