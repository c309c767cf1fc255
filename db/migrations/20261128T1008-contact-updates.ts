import { type Kysely, sql } from 'kysely';
import { buildIndex } from '../concurrent-index.ts';

/**
 * Lets `GET /contacts?updatedAfter=` read only the pages of the table that have changed contacts. Every update of a
 * contact changes this column. A BRIN index keeps these updates heap-only, which a B-tree would not. With one entry per
 * page it finds changes that are scattered over the table.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await buildIndex(db, {
    name: 'contacts_updated',
    on: sql`contacts USING brin (updated_at) WITH (pages_per_range = 1, autosummarize = on)`,
  });
}
