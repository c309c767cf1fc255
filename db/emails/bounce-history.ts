import { sql } from 'kysely';
import { bouncedAs } from '../../rules/emails/reasons.ts';
import type { Db } from '../connection.ts';

/** Older bounces of a contact than its last hundred mails say nothing about the mailbox any more. */
const MAILS_LOOKED_AT = 100;

/**
 * When mail to a contact last bounced for a reason that means a dead mailbox if it comes again on another day (contract
 * §9.7); null if it never did. `judgeAgain` of rules/emails/bounce.ts takes it.
 */
export async function findLastTransientBounce(
  db: Db,
  p: { projectId: string; contactId: string },
): Promise<Date | null> {
  const reasons = [bouncedAs('routing'), bouncedAs('unknown')];
  const { rows } = await sql<{ at: Date | null }>`
    SELECT max(bounced_at) AS at FROM (
      SELECT bounced_at, reason FROM emails WHERE contact_id = ${p.contactId} AND project_id = ${p.projectId}
      ORDER BY id DESC LIMIT ${MAILS_LOOKED_AT}) AS latest
    WHERE reason = ANY(${reasons}::text[])
  `.execute(db);
  return rows[0]?.at ?? null;
}
