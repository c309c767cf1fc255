import { type Kysely, sql } from 'kysely';
import { buildIndex } from '../concurrent-index.ts';

/**
 * Lets `GET /contacts?updatedAfter=` read only the pages of the table with changed contacts. Nearly every update of a
 * contact changes this column. With a BRIN index these updates stay heap-only; with a B-tree they would not. The index
 * has one entry per page, so it also finds changes that are scattered over the table.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await buildIndex(db, {
    name: 'contacts_updated',
    on: sql`contacts USING brin (updated_at) WITH (pages_per_range = 1, autosummarize = on)`,
  });
}
