import { type Kysely, sql } from 'kysely';

/**
 * Slots under the project's frequency cap. A contact has one row, and every claim of an email to the contact changes
 * this row by an upsert. A claim that waited for the row sees its newest version, so two concurrent claims never take
 * the same slot. `take_frequency` returns the row's new `mails` (email id → epoch seconds of its slot, 0 if it was
 * refused) for the emails in `wanted`. The function also counts emails that were sent within the cap's days, even
 * before the cap was set, and slots of emails in progress. The slot of a failed email is free again. One exception is a
 * slot that was taken after this statement started, because the statement's snapshot does not show its email's status.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE projects
      ADD COLUMN frequency_max int CHECK (frequency_max > 0),
      ADD COLUMN frequency_days int CHECK (frequency_days > 0),
      ADD CONSTRAINT projects_frequency CHECK ((frequency_max IS NULL) = (frequency_days IS NULL))
  `.execute(db);
  await sql`
    CREATE TABLE frequency_slots (
      contact_id uuid PRIMARY KEY,
      project_id uuid NOT NULL,
      wanted uuid[] NOT NULL,
      mails jsonb NOT NULL,
      updated_at timestamptz NOT NULL DEFAULT now()
    )
  `.execute(db);
  await sql`
    CREATE FUNCTION take_frequency(held jsonb, wanted uuid[], contact uuid, most int, days int) RETURNS jsonb LANGUAGE sql STABLE AS $$
      WITH span AS (
        SELECT statement_timestamp() - make_interval(days => days) AS since, extract(epoch FROM statement_timestamp()) AS began
      ), kept AS MATERIALIZED (
        SELECT h.key::uuid AS id, h.value::text::numeric AS at
        FROM span, jsonb_each(held) h LEFT JOIN emails m ON m.id = h.key::uuid
        WHERE h.value::text::numeric > extract(epoch FROM span.since)
          AND NOT coalesce(m.status IN ('FAILED', 'BOUNCED') AND m.sent_at IS NULL AND h.value::text::numeric < span.began, false)
      ), others AS (
        SELECT id FROM kept WHERE id <> ALL (wanted)
        UNION
        SELECT m.id FROM span, emails m JOIN contents k ON k.id = m.content_id
        WHERE m.contact_id = contact AND m.mode = 'live' AND m.source_type IN ('CAMPAIGN', 'WORKFLOW') AND k.type = 'MARKETING'
          AND m.sent_at > span.since AND m.id <> ALL (wanted)
      ), asked AS (
        SELECT w.id, kept.id IS NOT NULL AS mine,
          row_number() OVER (ORDER BY kept.id IS NULL, w.place) AS rank
        FROM unnest(wanted) WITH ORDINALITY AS w (id, place) LEFT JOIN kept ON kept.id = w.id
      ), result AS (
        SELECT id, at FROM kept WHERE id <> ALL (wanted)
        UNION ALL
        SELECT id, CASE WHEN mine OR rank <= most - (SELECT count(*) FROM others) THEN extract(epoch FROM clock_timestamp()) ELSE 0 END
        FROM asked
      )
      SELECT coalesce(jsonb_object_agg(id, at), '{}') FROM result
    $$
  `.execute(db);
}
