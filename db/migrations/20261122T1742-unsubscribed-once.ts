import { type Kysely, sql } from 'kysely';

/**
 * Whether a contact was ever unsubscribed, by themselves or anybody else: the public key subscribes nobody who was. Events tell it too, but they
 * may be pruned. NULL is for contacts from before, of whom the first request that asks finds it in their events: no row is written here.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE contacts ADD COLUMN was_unsubscribed boolean`.execute(db);
  await sql`ALTER TABLE contacts ALTER COLUMN was_unsubscribed SET DEFAULT false`.execute(db);
  // A trigger, not a line in each statement: whatever unsubscribes a contact, an operator's own SQL too, is remembered with it.
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
