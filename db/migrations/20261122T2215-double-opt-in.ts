import { type Kysely, sql } from 'kysely';

/**
 * Contacts who were asked to confirm their subscription, the emails that asked, and the proof of the confirmation. A
 * contact is `pending` until they confirm, or until another change of their subscription. A subscribed contact is
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
