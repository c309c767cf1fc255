import { type Kysely, sql } from 'kysely';

/**
 * Keeps what a refusal needs after its contact is erased: the keyed hash of the address (as the suppression list has
 * it), never the address. New tables only, so no statement waits for this migration.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Addresses that the links of an email speak for, written when its contact is erased: the recipient's, and the
  // contact's if it has changed since. An erased content has no topic, so the topic is stored here.
  await sql`
    CREATE TABLE erased_emails (
      email_id uuid NOT NULL,
      address_hash bytea NOT NULL,
      project_id uuid NOT NULL,
      is_recipient boolean NOT NULL,
      topic_id uuid,
      PRIMARY KEY (email_id, address_hash)
    )`.execute(db);
  // The same for links outside of emails, such as links of webhook steps.
  await sql`
    CREATE TABLE erased_contacts (
      contact_id uuid PRIMARY KEY,
      address_hash bytea NOT NULL,
      project_id uuid NOT NULL
    )`.execute(db);
  // The contact that has such an address now. No address can be derived from a hash, and hashing every contact would
  // take seconds.
  await sql`
    CREATE TABLE erased_addresses (
      project_id uuid NOT NULL,
      address_hash bytea NOT NULL,
      contact_id uuid,
      PRIMARY KEY (project_id, address_hash)
    )`.execute(db);
  // Topics that the person left, for the next contact with the address.
  await sql`
    CREATE TABLE topic_refusals (
      project_id uuid NOT NULL,
      address_hash bytea NOT NULL,
      topic_id uuid NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
      PRIMARY KEY (project_id, address_hash, topic_id)
    )`.execute(db);
  await sql`CREATE INDEX topic_refusals_topic ON topic_refusals (topic_id)`.execute(db);
}
