import { type Kysely, sql } from 'kysely';

/**
 * Adds the state of contacts that got a confirmation email, the confirmation emails, and the proof of a confirmation. A
 * contact is `pending` until it confirms, or until its subscription changes in another way. A subscribed contact is
 * never pending.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE projects
      ADD COLUMN double_opt_in boolean NOT NULL DEFAULT false,
      ADD COLUMN double_opt_in_template_id uuid REFERENCES templates (id)
  `.execute(db);
  await sql`
    ALTER TABLE contacts ADD COLUMN pending boolean NOT NULL DEFAULT false, ADD COLUMN confirmation_asked_at timestamptz
  `.execute(db);
  await sql`
    CREATE FUNCTION end_pending() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.pending := false; RETURN NEW; END $$
  `.execute(db);
  await sql`
    CREATE TRIGGER contacts_end_pending BEFORE UPDATE OF subscribed ON contacts FOR EACH ROW
    WHEN (NEW.pending AND (NEW.subscribed OR OLD.subscribed)) EXECUTE FUNCTION end_pending()
  `.execute(db);
  await sql`
    CREATE TABLE confirmations (
      email_id uuid PRIMARY KEY,
      project_id uuid NOT NULL,
      contact_id uuid NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
      created_at timestamptz NOT NULL DEFAULT now(),
      confirmed_at timestamptz,
      ip text,
      text text
    )
  `.execute(db);
  await sql`CREATE INDEX confirmations_contact ON confirmations (contact_id)`.execute(db);
}
