import { type Kysely, sql } from 'kysely';

/**
 * Stores the consent to SMS by pairs of numbers. `phone_hash` is the keyed hash of the recipient's number, so that a
 * stop can stay after the contact and its number were erased. An empty `sender` means all senders. The columns have no
 * default, so no row is rewritten.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE sms_stops (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL,
      phone_hash bytea NOT NULL,
      sender text NOT NULL,
      phone text,
      source text NOT NULL,
      actor text,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT sms_stops_pair UNIQUE (project_id, phone_hash, sender)
    )`.execute(db);
  await sql`CREATE INDEX sms_stops_project ON sms_stops (project_id, id)`.execute(db);
  // Normalized numbers of contacts whose number was not written in E.164. contacts.phone has the numbers that were.
  await sql`
    CREATE TABLE contact_phones (
      contact_id uuid PRIMARY KEY REFERENCES contacts (id) ON DELETE CASCADE,
      project_id uuid NOT NULL,
      phone text NOT NULL
    )`.execute(db);
  await sql`CREATE INDEX contact_phones_phone ON contact_phones (project_id, phone)`.execute(db);
  // The contact up to which pruning has filled the stop list from earlier consent. The row is deleted when all contacts
  // are processed.
  await sql`CREATE TABLE sms_stop_backfill (singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton), after uuid NOT NULL)`.execute(
    db,
  );
  await sql`
    INSERT INTO sms_stop_backfill (after)
    SELECT '00000000-0000-0000-0000-000000000000' WHERE EXISTS (SELECT FROM contacts)`.execute(db);
  await sql`ALTER TABLE sms_messages ADD COLUMN marketing boolean`.execute(db);
  await sql`ALTER TABLE projects ADD COLUMN phone_country text, ADD COLUMN resubscribe_protected boolean`.execute(db);
}
