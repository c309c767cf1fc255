import { type Kysely, sql } from 'kysely';

/**
 * Keys sent with the public key become a namespace of their own, and each key stores its owner. Existing rows do not
 * change: they belong to the project's own namespace, without a known owner. The primary key is rebuilt over the keys
 * of one day.
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
