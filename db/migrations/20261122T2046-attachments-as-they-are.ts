import { type Kysely, sql } from 'kysely';

/**
 * Stores attachments uncompressed. Most files are compressed already, and they are read slice by slice. Postgres
 * finds a slice of an uncompressed value at once. In a compressed value, it would decompress everything before the
 * slice each time. The setting applies to new files; earlier files stay readable.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE attachments ALTER COLUMN content SET STORAGE EXTERNAL`.execute(db);
}
