import { type Kysely, sql } from 'kysely';

/** Events, the outbox of work for Temporal, and idempotency keys. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // data is NULL on email.sent of a campaign: the payload is derived from the email's row when it is read
  // (api/routes/events/response.ts).
  await sql`
    CREATE TABLE events (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL,
      contact_id uuid,
      email_id uuid,
      name text NOT NULL,
      data jsonb,
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX events_project ON events (project_id, id)`.execute(db);
  await sql`CREATE INDEX events_name ON events (project_id, name, contact_id, created_at)`.execute(db);
  await sql`CREATE INDEX events_contact ON events (contact_id, id)`.execute(db);
  await sql`
    CREATE TABLE outbox (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL,
      kind text NOT NULL,
      ref_id uuid NOT NULL,
      payload jsonb NOT NULL DEFAULT '{}',
      attempts int NOT NULL DEFAULT 0,
      last_error text,
      available_at timestamptz NOT NULL DEFAULT now(),
      created_at timestamptz NOT NULL DEFAULT now()
    ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`.execute(db);
  await sql`CREATE INDEX outbox_available ON outbox (available_at)`.execute(db);
  await sql`
    CREATE TABLE idempotency_keys (
      project_id uuid NOT NULL,
      key text NOT NULL,
      request text NOT NULL,
      status_code int NOT NULL,
      response jsonb NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (project_id, key)
    )`.execute(db);
  await sql`CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at)`.execute(db);
}
