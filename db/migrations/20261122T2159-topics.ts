import { type Kysely, sql } from 'kysely';

/**
 * Topics, and the choices of contacts. If a contact has no row for a topic, the topic's default applies, so a change of
 * the default applies to all contacts without a choice. A content stores the id of its topic without a foreign key;
 * after the topic is deleted, the content counts as having no topic.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE topics (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      name text NOT NULL,
      slug text NOT NULL,
      description text,
      default_subscribed boolean NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT topics_slug UNIQUE (project_id, slug)
    )
  `.execute(db);
  await sql`CREATE UNIQUE INDEX topics_name ON topics (project_id, lower(name))`.execute(db);
  await sql`
    CREATE TABLE topic_choices (
      project_id uuid NOT NULL,
      contact_id uuid NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
      topic_id uuid NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
      joined boolean NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (contact_id, topic_id)
    )
  `.execute(db);
  await sql`CREATE INDEX topic_choices_topic ON topic_choices (topic_id, contact_id)`.execute(db);
  await sql`ALTER TABLE templates ADD COLUMN topic_id uuid REFERENCES topics (id)`.execute(db);
  await sql`ALTER TABLE campaigns ADD COLUMN topic_id uuid REFERENCES topics (id) ON DELETE SET NULL`.execute(db);
  await sql`ALTER TABLE contents ADD COLUMN topic_id uuid`.execute(db);
  await sql`CREATE INDEX templates_topic ON templates (topic_id) WHERE topic_id IS NOT NULL`.execute(db);
  await sql`CREATE INDEX campaigns_topic ON campaigns (topic_id) WHERE topic_id IS NOT NULL`.execute(db);
  await sql`
    CREATE FUNCTION topics_of(project uuid, contact uuid) RETURNS jsonb LANGUAGE sql STABLE AS $$
      SELECT coalesce(jsonb_object_agg(t.id, coalesce(s.joined, t.default_subscribed) ORDER BY t.id), '{}')
      FROM topics t LEFT JOIN topic_choices s ON s.topic_id = t.id AND s.contact_id = contact
      WHERE t.project_id = project
    $$
  `.execute(db);
}
