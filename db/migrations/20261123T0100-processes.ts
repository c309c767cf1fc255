import { type Kysely, sql } from 'kysely';

/** The running processes of the service, as each reports every few seconds, for the operator's page. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE processes (
      id uuid PRIMARY KEY,
      kind text NOT NULL CHECK (kind IN ('api', 'worker')),
      host text NOT NULL,
      pid int NOT NULL,
      version text NOT NULL,
      build text NOT NULL,
      started_at timestamptz NOT NULL,
      seen_at timestamptz NOT NULL DEFAULT now()
    ) WITH (fillfactor = 50)`.execute(db);
}
