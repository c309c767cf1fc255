import { type Kysely, sql } from 'kysely';

/**
 * Where events come from. `untrusted`, as executions have it: what the event holds is a stranger's, by the public key or in a mail. `swayed`: a stranger
 * had it happen, or had an execution begin or go on, whatever it holds. The columns cost no rewrite of the tables.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE events ADD COLUMN untrusted boolean NOT NULL DEFAULT false, ADD COLUMN swayed boolean NOT NULL DEFAULT false
  `.execute(db);
  await sql`ALTER TABLE executions ADD COLUMN swayed boolean NOT NULL DEFAULT false`.execute(db);
}
