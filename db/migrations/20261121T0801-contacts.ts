import { type Kysely, sql } from 'kysely';

/** Contacts, the suppression list and the jobs that work on many contacts. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE EXTENSION IF NOT EXISTS pg_trgm`.execute(db);
  // untrusted_keys: names of the data keys that the public key wrote last. The values of these keys never become a link
  // target or header (contract §2.2 Public key).
  await sql`
    CREATE TABLE contacts (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL,
      email text NOT NULL,
      subscribed boolean NOT NULL,
      sms_subscribed boolean NOT NULL DEFAULT true,
      data jsonb NOT NULL DEFAULT '{}',
      untrusted_keys text[] NOT NULL DEFAULT '{}',
      phone text GENERATED ALWAYS AS (data->>'phone') STORED,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT contacts_email UNIQUE (project_id, email)
    ) WITH (fillfactor = 80)`.execute(db);
  await sql`CREATE INDEX contacts_project ON contacts (project_id, id)`.execute(db);
  await sql`CREATE INDEX contacts_phone ON contacts (project_id, phone) WHERE phone IS NOT NULL`.execute(db);
  // address_hash: HMAC-SHA256 of the address in lower case, with a key derived from SECRET_KEY. The row stays after the
  // contact's erasure, which sets email to NULL. Each reason has a separate row, so that ending a suppression for one
  // reason does not end it for the others (contract §9).
  await sql`
    CREATE TABLE suppressions (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      address_hash bytea NOT NULL,
      email text,
      reason text NOT NULL CHECK (reason IN ('hard_bounce', 'complaint', 'unsubscribe', 'manual')),
      source text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT suppressions_address UNIQUE (project_id, address_hash, reason)
    )`.execute(db);
  await sql`CREATE INDEX suppressions_project ON suppressions (project_id, id)`.execute(db);
  await sql`
    CREATE TABLE jobs (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      kind text NOT NULL,
      status text NOT NULL DEFAULT 'QUEUED' CHECK (status IN ('QUEUED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED')),
      input jsonb NOT NULL DEFAULT '{}',
      file bytea,
      cursor bigint NOT NULL DEFAULT 0,
      total int NOT NULL DEFAULT 0,
      processed int NOT NULL DEFAULT 0,
      result jsonb NOT NULL DEFAULT '{}',
      failed_reason text,
      created_at timestamptz NOT NULL DEFAULT now(),
      started_at timestamptz,
      completed_at timestamptz
    )`.execute(db);
  await sql`CREATE INDEX jobs_project ON jobs (project_id, id)`.execute(db);
}
