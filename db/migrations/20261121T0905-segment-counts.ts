import { type Kysely, sql } from 'kysely';

/** Adds when `member_count` was counted, so that a page knows whether the kept count is fresh enough for its total. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE segments ADD COLUMN counted_at timestamptz`.execute(db);
}
