import { type Kysely, sql } from 'kysely';

/**
 * Lets vacuum add new pages of contacts to the BRIN index. With `autosummarize` each new page asked for it at once:
 * Postgres keeps 256 such requests, so an import wrote thousands of lines with its statement to Postgres's log.
 * Until a vacuum, `GET /contacts?updatedAfter=` reads the new pages, whose contacts have mostly changed anyway.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER INDEX contacts_updated SET (autosummarize = off)`.execute(db);
}
