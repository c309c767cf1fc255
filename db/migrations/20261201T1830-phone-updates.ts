import { type Kysely, sql } from 'kysely';

/**
 * Stores the projects whose contacts' phone numbers must be parsed again, with the contact up to which this was done.
 * Starts with all projects with phone numbers, because earlier releases did not parse the numbers again after a change
 * of the project's country.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE phone_updates (
      project_id uuid PRIMARY KEY,
      changed_at timestamptz NOT NULL DEFAULT now(),
      after uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'
    )`.execute(db);
  await sql`
    INSERT INTO phone_updates (project_id)
    SELECT p.id FROM projects p
    WHERE EXISTS (SELECT FROM contacts c WHERE c.project_id = p.id AND c.phone IS NOT NULL)
      OR EXISTS (SELECT FROM contact_phones w WHERE w.project_id = p.id)`.execute(db);
}
