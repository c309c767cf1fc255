import { type Kysely, sql } from 'kysely';

/**
 * Adds the time when `member_count` was counted, so that a page can decide whether the stored count is recent enough.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE segments ADD COLUMN counted_at timestamptz`.execute(db);
}
