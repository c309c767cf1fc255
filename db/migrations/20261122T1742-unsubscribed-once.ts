import { type Kysely, sql } from 'kysely';

/**
 * Adds whether a contact was ever unsubscribed, by the person or by anyone else: a caller with the public key cannot
 * subscribe such a contact. Events show this too, but they may be pruned. NULL marks contacts from before this
 * migration. The first request that needs the value reads it from their events. The migration changes no row.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE contacts ADD COLUMN was_unsubscribed boolean`.execute(db);
  await sql`ALTER TABLE contacts ALTER COLUMN was_unsubscribed SET DEFAULT false`.execute(db);
  // A trigger records every unsubscription, including changes by an operator's SQL.
  await sql`
    CREATE FUNCTION note_unsubscribed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.was_unsubscribed := true;
      RETURN NEW;
    END $$`.execute(db);
  await sql`
    CREATE TRIGGER contacts_unsubscribed BEFORE UPDATE OF subscribed ON contacts FOR EACH ROW
    WHEN (OLD.subscribed AND NOT NEW.subscribed) EXECUTE FUNCTION note_unsubscribed()`.execute(db);
}
