import { type Kysely, sql } from 'kysely';

/**
 * Invitations to a project: the newest per address. Only the hash of the link's token is stored. Used invitations are
 * deleted.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE invitations (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      email text NOT NULL,
      role text NOT NULL CHECK (role IN ('OWNER', 'ADMIN', 'MEMBER')),
      token_hash bytea NOT NULL UNIQUE,
      invited_by uuid NOT NULL REFERENCES users ON DELETE CASCADE,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      UNIQUE (project_id, email)
    )`.execute(db);
}
