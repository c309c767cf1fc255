import { type Kysely, sql } from 'kysely';

/** The result of the last round of each kind of periodic work, for the operator's page and for the next round. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE periodic_work (
      kind text PRIMARY KEY,
      known_since timestamptz NOT NULL DEFAULT now(),
      began_at timestamptz,
      ended_at timestamptz,
      duration_ms int,
      unfinished int NOT NULL DEFAULT 0,
      failing text[] NOT NULL DEFAULT '{}',
      resume_after text,
      last_error text,
      last_error_at timestamptz
    )`.execute(db);
  await sql`
    INSERT INTO periodic_work (kind)
    VALUES ('recovery'), ('pruning'), ('statistics'), ('segments'), ('domains')`.execute(db);
}
