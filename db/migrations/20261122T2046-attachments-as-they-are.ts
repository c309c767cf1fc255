import { type Kysely, sql } from 'kysely';

/**
 * Stores attachments uncompressed, because most files are already compressed and are read slice by slice. Postgres
 * finds a slice of an uncompressed value directly. In a compressed value, it would have to decompress everything before
 * the slice each time. The setting applies to new files; earlier files can still be read.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE attachments ALTER COLUMN content SET STORAGE EXTERNAL`.execute(db);
}
