import { type Kysely, sql } from 'kysely';

/**
 * Adds tokens, by which a mismatch between Postgres and Temporal is detected, and the state after a mismatch: sending
 * is on hold (`sending_hold`), or recovery is requested. The columns have no default, so no row is rewritten.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE installation_tokens (
      no bigint PRIMARY KEY,
      value uuid NOT NULL,
      rolled_at timestamptz NOT NULL DEFAULT now(),
      confirmed boolean NOT NULL DEFAULT false,
      system_identifier text,
      database_oid bigint NOT NULL
    )`.execute(db);
  await sql`
    ALTER TABLE installation
      ADD COLUMN sending_hold text CHECK (sending_hold IN ('new', 'recovery')),
      ADD COLUMN sending_held_at timestamptz,
      ADD COLUMN recovery_since timestamptz,
      ADD COLUMN recovery_leased_until timestamptz,
      ADD COLUMN resolved_by text`.execute(db);
}
