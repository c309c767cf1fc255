import { type Kysely, sql } from 'kysely';

/**
 * The final state of recently deleted records: executions, campaigns and webhook endpoints. Their workflows may ask
 * for them again. A missing record without an entry here is an error.
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
