import { type Kysely, sql } from 'kysely';

/**
 * Lets vacuum add new pages of contacts to the BRIN index. With `autosummarize`, each new page of the table caused a
 * request to add the page to the index at once. Postgres keeps at most 256 of these requests, so an import wrote
 * thousands of lines with its statement to Postgres's log. Until the next vacuum, `GET /contacts?updatedAfter=` reads
 * the new pages, most of whose contacts have changed anyway.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER INDEX contacts_updated SET (autosummarize = off)`.execute(db);
}
