import { type Kysely, sql } from 'kysely';

/**
 * API requests of programs, and changes by users: one row per request, without body, URL or credentials. `made` has the
 * ids of created rows, by kind. Rows are inserted in batches and deleted after their retention. A foreign key is
 * omitted, because it would cost one lookup per row.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE requests (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL,
      request_id text NOT NULL,
      method text NOT NULL,
      route text NOT NULL,
      status smallint NOT NULL,
      ms real NOT NULL,
      actor text NOT NULL,
      error_code text,
      made jsonb,
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX requests_project ON requests (project_id, id)`.execute(db);
  await sql`CREATE INDEX requests_request_id ON requests (project_id, request_id)`.execute(db);
  // Finds errors among many successes.
  await sql`CREATE INDEX requests_refused ON requests (project_id, id) WHERE status >= 400`.execute(db);
}
