import { sql } from 'kysely';
import type { RecipientTiming } from '../../rules/campaigns/gate.ts';
import type { SendingWindow } from '../../rules/time/sending-window.ts';
import type { Db } from '../connection.ts';

/** Returns the time zone of a contact and of its project, and the project's window, for marketing email and delays. */
export async function getContactClock(db: Db, p: { projectId: string; contactId: string }): Promise<RecipientTiming> {
  const { rows } = await sql<RecipientTiming>`
    SELECT (SELECT c.data->>'timezone' FROM contacts c WHERE c.project_id = p.id AND c.id = ${p.contactId}) AS zone,
      p.timezone AS "projectZone", p.sending_window AS window
    FROM projects p WHERE p.id = ${p.projectId}
  `.execute(db);
  return rows[0] ?? { zone: null, projectZone: 'UTC', window: null };
}

/**
 * Columns that decide when an automation's MARKETING message may be sent, for the aliases `c` and `p` of its contact
 * and project.
 */
export const CLOCK_COLUMNS = sql`c.data->>'timezone' AS zone, p.timezone AS "projectZone", p.sending_window AS window`;

export type ClockRow = { zone: string | null; projectZone: string; window: SendingWindow | null };
