import { type Kysely, sql } from 'kysely';

/**
 * Files of mails are mostly packed already, and are read slice by slice: stored as they are a slice is found at once, where of what is
 * compressed all that comes before it would be unpacked each time. For files that come from here on; those before them are read as well.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE attachments ALTER COLUMN content SET STORAGE EXTERNAL`.execute(db);
}
