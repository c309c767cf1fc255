import { type Kysely, sql } from 'kysely';
import { buildIndex } from '../concurrent-index.ts';

/**
 * Adds an index that finds the projects that have sent SMS from one number to another. A STOP to a sender is valid even
 * after the project has removed the sender.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await buildIndex(db, {
    name: 'sms_messages_pair',
    on: sql`sms_messages (to_phone, from_phone) WHERE to_phone <> ''`,
  });
}
