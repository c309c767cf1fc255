import { sql } from 'kysely';
import type { Clock } from '../../rules/campaigns/gate.ts';
import type { SendingWindow } from '../../rules/time/sending-window.ts';
import type { Db } from '../connection.ts';

/** The clock that a contact's marketing and delays go by: their own zone and that of the project, and its window. */
export async function getContactClock(db: Db, p: { projectId: string; contactId: string }): Promise<Clock> {
  const { rows } = await sql<Clock>`
    SELECT (SELECT c.data->>'timezone' FROM contacts c WHERE c.project_id = p.id AND c.id = ${p.contactId}) AS zone,
      p.timezone AS "projectZone", p.sending_window AS window
    FROM projects p WHERE p.id = ${p.projectId}
  `.execute(db);
  return rows[0] ?? { zone: null, projectZone: 'UTC', window: null };
}

/** What a window makes of an automation's MARKETING message, of the aliases `c` and `p` of its contact and project. */
export const CLOCK_COLUMNS = sql`c.data->>'timezone' AS zone, p.timezone AS "projectZone", p.sending_window AS window`;

export type ClockRow = { zone: string | null; projectZone: string; window: SendingWindow | null };
