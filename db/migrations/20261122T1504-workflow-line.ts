import { type Kysely, sql } from 'kysely';

/** Mails of workflows that a send rate keeps waiting stand in a line: this is when its end has its turn. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE send_buckets ADD COLUMN workflow_line_at timestamptz`.execute(db);
}
