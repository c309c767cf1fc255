import { type Kysely, sql } from 'kysely';

/**
 * The final status of recently deleted executions, campaigns and webhook endpoints, because their Temporal workflows
 * may still read them. A row that is missing, and has no entry in this table, is an error.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE deleted_rows (
      id uuid PRIMARY KEY,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      status text NOT NULL,
      reason text,
      deleted_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
}
