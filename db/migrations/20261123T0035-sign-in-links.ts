import { type Kysely, sql } from 'kysely';

/** Single-use links by which `npm start` signs its owner in: only the newest per user. A used link is deleted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE sign_in_links (
      user_id uuid PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
      project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      token_hash bytea NOT NULL UNIQUE,
      password_hash text NOT NULL,
      expires_at timestamptz NOT NULL
    )`.execute(db);
}
