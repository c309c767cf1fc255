import { type Kysely, sql } from 'kysely';

/**
 * Adds a small table of paused routes: the mail server or provider refused email because of the sender, and email
 * waits until the route accepts email again. A row without a project applies to all projects.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE route_pauses (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      route text NOT NULL,
      project_id uuid REFERENCES projects ON DELETE CASCADE,
      refusal text NOT NULL,
      stage text NOT NULL,
      reply text NOT NULL,
      sender_host text NOT NULL,
      email_id uuid,
      since timestamptz NOT NULL DEFAULT now(),
      probes int NOT NULL DEFAULT 0,
      next_probe_at timestamptz NOT NULL,
      UNIQUE NULLS NOT DISTINCT (route, project_id)
    )`.execute(db);
}
