import { type Kysely, sql } from 'kysely';
import { buildIndex } from '../concurrent-index.ts';

/**
 * Finds the projects that have sent SMS from a number to another one. A STOP to a sender that a project has removed
 * since still counts.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await buildIndex(db, {
    name: 'sms_messages_pair',
    on: sql`sms_messages (to_phone, from_phone) WHERE to_phone <> ''`,
  });
}
