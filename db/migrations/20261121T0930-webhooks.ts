import { type Kysely, sql } from 'kysely';

/** The webhook registry: endpoints of a project, and each event's delivery to each of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Secrets are encrypted. After a rotation, deliveries are also signed with the previous secret until previous_until.
  await sql`
    CREATE TABLE webhook_endpoints (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      url text NOT NULL,
      events text[] NOT NULL,
      description text,
      status text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'DEGRADED', 'DISABLED')),
      secret text NOT NULL,
      previous_secret text,
      previous_until timestamptz,
      failures_in_row int NOT NULL DEFAULT 0,
      failing_since timestamptz,
      disabled_reason text,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX webhook_endpoints_project ON webhook_endpoints (project_id, id)`.execute(db);
  await sql`
    CREATE TABLE webhook_deliveries (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL,
      endpoint_id uuid NOT NULL REFERENCES webhook_endpoints ON DELETE CASCADE,
      event_id uuid NOT NULL,
      event_name text NOT NULL,
      payload jsonb NOT NULL,
      status text NOT NULL DEFAULT 'PENDING' CHECK (status IN ('PENDING', 'DELIVERED', 'FAILED')),
      claim bigint,
      attempts int NOT NULL DEFAULT 0,
      response_status int,
      latency_ms int,
      error text,
      next_attempt_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      completed_at timestamptz,
      CONSTRAINT webhook_deliveries_event UNIQUE (endpoint_id, event_id)
    ) WITH (fillfactor = 70)`.execute(db);
  await sql`CREATE INDEX webhook_deliveries_endpoint ON webhook_deliveries (endpoint_id, id)`.execute(db);
}
