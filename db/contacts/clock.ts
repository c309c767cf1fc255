import { sql } from 'kysely';
import type { RecipientTiming } from '../../rules/campaigns/gate.ts';
import type { SendingWindow } from '../../rules/time/sending-window.ts';
import type { Db } from '../connection.ts';

/** Returns the time zones of a contact and its project, and the project's sending window. */
export async function getContactTiming(db: Db, p: { projectId: string; contactId: string }): Promise<RecipientTiming> {
  const { rows } = await sql<RecipientTiming>`
    SELECT (SELECT c.data->>'timezone' FROM contacts c WHERE c.project_id = p.id AND c.id = ${p.contactId}) AS zone,
      p.timezone AS "projectZone", p.sending_window AS window
    FROM projects p WHERE p.id = ${p.projectId}
  `.execute(db);
  return rows[0] ?? { zone: null, projectZone: 'UTC', window: null };
}

/**
 * SQL columns that decide when an automation's MARKETING message may be sent. `c` and `p` are the aliases of the
 * contact and the project.
 */
export const CLOCK_COLUMNS = sql`c.data->>'timezone' AS zone, p.timezone AS "projectZone", p.sending_window AS window`;

export type ClockRow = { zone: string | null; projectZone: string; window: SendingWindow | null };
