import { type Kysely, sql } from 'kysely';

/** Links with which `npm start` signs in its owner. Each works once, and only the newest link of a user is stored. */
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
