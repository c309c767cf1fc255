import { type Kysely, sql } from 'kysely';

/**
 * Separates keys sent with the public key from the project's other keys, and stores the owner of each key. Existing
 * rows do not change: they count as the project's keys with an unknown owner. Rebuilding the primary key is cheap,
 * because keys are kept for one day.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE idempotency_keys ADD COLUMN public boolean NOT NULL DEFAULT false, ADD COLUMN owner text
  `.execute(db);
  await sql`CREATE UNIQUE INDEX idempotency_keys_name ON idempotency_keys (project_id, public, key)`.execute(db);
  await sql`
    ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_pkey,
      ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY USING INDEX idempotency_keys_name
  `.execute(db);
}
