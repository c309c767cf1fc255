import { type Kysely, sql } from 'kysely';

/**
 * Stores the data that a refusal needs after its contact is erased: the keyed hash of the address, as in suppressions,
 * and never the address. Only creates new tables, so no statement waits for this migration.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Addresses whose consent the links of an email can change, stored when the email's contact is erased: the
  // recipient's address, and the contact's address if it has changed since. The topic is stored here because an erased
  // content has none.
  await sql`
    CREATE TABLE erased_emails (
      email_id uuid NOT NULL,
      address_hash bytea NOT NULL,
      project_id uuid NOT NULL,
      is_recipient boolean NOT NULL,
      topic_id uuid,
      PRIMARY KEY (email_id, address_hash)
    )`.execute(db);
  // Addresses whose consent other links can change, such as links that webhook steps send.
  await sql`
    CREATE TABLE erased_contacts (
      contact_id uuid PRIMARY KEY,
      address_hash bytea NOT NULL,
      project_id uuid NOT NULL
    )`.execute(db);
  // The contact that has an erased address now. This table finds the contact, because an address cannot be computed
  // from its hash, and hashing the addresses of all contacts would take seconds.
  await sql`
    CREATE TABLE erased_addresses (
      project_id uuid NOT NULL,
      address_hash bytea NOT NULL,
      contact_id uuid,
      PRIMARY KEY (project_id, address_hash)
    )`.execute(db);
  // Topics that the person has left, for the next contact with the address.
  await sql`
    CREATE TABLE topic_refusals (
      project_id uuid NOT NULL,
      address_hash bytea NOT NULL,
      topic_id uuid NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
      PRIMARY KEY (project_id, address_hash, topic_id)
    )`.execute(db);
  await sql`CREATE INDEX topic_refusals_topic ON topic_refusals (topic_id)`.execute(db);
}
