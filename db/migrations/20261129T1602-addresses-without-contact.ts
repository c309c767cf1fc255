import { type Kysely, sql } from 'kysely';
import { buildIndex } from '../concurrent-index.ts';

/**
 * Copies the address of an email without a contact into a separate column, which erasure searches. The earlier index on
 * `to_email` made every claim of a campaign write to all indexes, because a claim sets `to_email`. The trigger also
 * applies to inserts by processes of the earlier release, which still run during an upgrade.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE emails ADD COLUMN IF NOT EXISTS address_without_contact text`.execute(db);
  await sql`
    CREATE OR REPLACE FUNCTION keep_address_without_contact() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.address_without_contact := NEW.to_email;
      RETURN NEW;
    END
    $$
  `.execute(db);
  await sql`
    CREATE OR REPLACE TRIGGER emails_keep_address_without_contact BEFORE INSERT ON emails
    FOR EACH ROW WHEN (NEW.contact_id IS NULL AND NEW.to_email IS NOT NULL) EXECUTE FUNCTION keep_address_without_contact()
  `.execute(db);
  // Updates only a few rows (test emails and notices to owners), found by the index that is dropped below.
  await sql`
    UPDATE emails SET address_without_contact = to_email
    WHERE contact_id IS NULL AND to_email IS NOT NULL AND address_without_contact IS NULL
  `.execute(db);
  await buildIndex(db, {
    name: 'emails_address_without_contact',
    on: sql`emails (project_id, address_without_contact) WHERE address_without_contact IS NOT NULL`,
  });
  await sql`DROP INDEX CONCURRENTLY IF EXISTS emails_without_contact`.execute(db);
}
