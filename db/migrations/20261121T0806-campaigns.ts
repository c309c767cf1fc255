import { type Kysely, sql } from 'kysely';

/** Segments, campaigns, and the chunks of a campaign. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE segments (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      name text NOT NULL,
      slug text NOT NULL,
      description text,
      type text NOT NULL DEFAULT 'DYNAMIC' CHECK (type IN ('DYNAMIC', 'STATIC')),
      condition jsonb,
      track_membership boolean NOT NULL DEFAULT false,
      member_count int NOT NULL DEFAULT 0,
      computed_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT segments_slug UNIQUE (project_id, slug)
    )`.execute(db);
  await sql`
    CREATE TABLE segment_members (
      segment_id uuid NOT NULL REFERENCES segments ON DELETE CASCADE,
      contact_id uuid NOT NULL,
      project_id uuid NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (segment_id, contact_id)
    )`.execute(db);
  await sql`CREATE INDEX segment_members_contact ON segment_members (contact_id)`.execute(db);
  await sql`
    CREATE TABLE campaigns (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      name text NOT NULL,
      description text,
      subject text NOT NULL,
      body text NOT NULL,
      from_email text NOT NULL,
      from_name text,
      reply_to text,
      audience_type text NOT NULL CHECK (audience_type IN ('ALL', 'SEGMENT', 'FILTERED')),
      segment_id uuid REFERENCES segments,
      audience_filter jsonb,
      status text NOT NULL DEFAULT 'DRAFT' CHECK (status IN ('DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED')),
      mode text NOT NULL DEFAULT 'live',
      scheduled_at timestamptz,
      started_at timestamptz,
      sent_at timestamptz,
      cancelled_at timestamptz,
      content_id uuid,
      send_no int NOT NULL DEFAULT 0,
      audience_cursor uuid,
      audience_done boolean NOT NULL DEFAULT false,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX campaigns_project ON campaigns (project_id, id)`.execute(db);
  await sql`CREATE INDEX campaigns_segment ON campaigns (segment_id)`.execute(db);
  // A chunk has the rows of its campaign with ids from first_id to last_id. The range replaces a lock per row: only the
  // lane that works on the chunk changes these rows.
  await sql`
    CREATE TABLE campaign_chunks (
      campaign_id uuid NOT NULL REFERENCES campaigns ON DELETE CASCADE,
      seq int NOT NULL,
      project_id uuid NOT NULL,
      first_id uuid NOT NULL,
      last_id uuid NOT NULL,
      size int NOT NULL,
      done_at timestamptz,
      PRIMARY KEY (campaign_id, seq)
    )`.execute(db);
}
