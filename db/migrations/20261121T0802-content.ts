import { type Kysely, sql } from 'kysely';

/**
 * Domains, templates, and contents. A content is the text of a message. A content does not change and is kept as long
 * as a message uses it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE domains (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      domain text NOT NULL,
      status text NOT NULL DEFAULT 'PENDING' CHECK (status IN ('PENDING', 'VERIFIED', 'FAILED')),
      signing boolean NOT NULL DEFAULT true,
      dkim_selector text NOT NULL,
      dkim_private_key text NOT NULL,
      dkim_public_key text NOT NULL,
      found jsonb NOT NULL DEFAULT '{}',
      last_checked_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT domains_name UNIQUE (project_id, domain)
    )`.execute(db);
  await sql`
    CREATE TABLE templates (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      name text NOT NULL,
      description text,
      subject text NOT NULL,
      body text NOT NULL,
      type text NOT NULL CHECK (type IN ('TRANSACTIONAL', 'MARKETING')),
      from_email text,
      from_name text,
      reply_to text,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX templates_project ON templates (project_id, id)`.execute(db);
  // hash is the SHA-256 of all columns below it. Requests with the same text therefore share one row: a million emails
  // of one template need one row.
  await sql`
    CREATE TABLE contents (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL,
      hash bytea NOT NULL,
      subject text NOT NULL,
      body text NOT NULL,
      type text NOT NULL,
      from_email text NOT NULL,
      from_name text,
      reply_to text,
      template_id uuid,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT contents_hash UNIQUE (project_id, hash)
    )`.execute(db);
}
