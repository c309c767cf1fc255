import { type Kysely, sql } from 'kysely';

/**
 * Adds the origin of events. `untrusted`, as for executions: the event's data came with the public key or in an email.
 * `swayed`: an unauthenticated caller caused the event, or made an execution start or continue, whatever the origin of
 * the data is. Adding these columns rewrites no table.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE events ADD COLUMN untrusted boolean NOT NULL DEFAULT false, ADD COLUMN swayed boolean NOT NULL DEFAULT false
  `.execute(db);
  await sql`ALTER TABLE executions ADD COLUMN swayed boolean NOT NULL DEFAULT false`.execute(db);
}
