import { type Kysely, sql } from 'kysely';

/** Invitations to a project: one an address, the newest. The link's token is kept as its hash; one that was followed is gone. */
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
