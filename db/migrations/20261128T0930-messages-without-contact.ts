import { type Kysely, sql } from 'kysely';
import { buildIndex } from '../concurrent-index.ts';

/**
 * Adds indexes that find the few emails and SMS without a contact by their recipient. The indexes are needed to erase a
 * person who became a contact later. Also clears the input of jobs that have ended, because the condition of a bulk job
 * can contain the name of a person.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await buildIndex(db, {
    name: 'emails_without_contact',
    on: sql`emails (project_id, to_email) WHERE contact_id IS NULL AND to_email IS NOT NULL`,
  });
  await buildIndex(db, {
    name: 'sms_messages_without_contact',
    on: sql`sms_messages (project_id, to_phone) WHERE contact_id IS NULL AND to_phone <> ''`,
  });
  await sql`UPDATE jobs SET input = '{}' WHERE completed_at IS NOT NULL AND input <> '{}'`.execute(db);
}
