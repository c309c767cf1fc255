import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connection.ts';

/**
 * The maximum number of MARKETING emails from campaigns and automations that a contact gets within a number of days.
 */
export interface FrequencyCap {
  max: number;
  days: number;
}

/** Returns a project's frequency cap from its columns. Null if the project has no frequency cap. */
export function readFrequencyCap(row: {
  frequency_max: number | null;
  frequency_days: number | null;
}): FrequencyCap | null {
  const { frequency_max: max, frequency_days: days } = row;
  return max === null || days === null ? null : { max, days };
}

/** SQL condition that the frequency cap of the row `p` of `projects` is still `cap`. */
export function isCapUnchangedSql(cap: FrequencyCap | null): RawBuilder<boolean> {
  const [max, days] = [cap?.max ?? null, cap?.days ?? null];
  return sql<boolean>`(p.frequency_max IS NOT DISTINCT FROM ${max}::int AND p.frequency_days IS NOT DISTINCT FROM ${days}::int)`;
}

/**
 * Builds the statement that takes slots for emails. Each email needs a slot under its contact's frequency cap. The
 * caller uses the statement as a CTE. For campaigns, this CTE is in the statement that claims the emails. `wanted`
 * selects `contact_id` and `ids`, with one row per contact. The upsert locks an existing row and computes its slots
 * from the newest version. Rows are locked in the order of the contacts' ids; a caller that also locks contacts must
 * lock them first. The statement returns three columns of `frequency_slots`: `contact_id`, `wanted` (the `ids` that
 * this call requested) and `mails`, a JSON object that maps the id of an email to the time of its slot in epoch
 * seconds, or to 0 if the email got no slot. `hasSlotSql` reads this value.
 */
export function takeSlotsSql(p: {
  projectId: string;
  cap: FrequencyCap;
  wanted: RawBuilder<unknown>;
}): RawBuilder<unknown> {
  const { max, days } = p.cap;
  const taken = (held: RawBuilder<unknown>, ids: RawBuilder<unknown>, contact: RawBuilder<unknown>) =>
    sql`take_frequency(${held}, ${ids}, ${contact}, ${max}::int, ${days}::int)`;
  return sql`
    INSERT INTO frequency_slots AS s (contact_id, project_id, wanted, mails)
    SELECT w.contact_id, ${p.projectId}::uuid, w.ids,
      CASE WHEN EXISTS (SELECT FROM frequency_slots x WHERE x.contact_id = w.contact_id) THEN '{}'::jsonb
        ELSE ${taken(sql`'{}'::jsonb`, sql`w.ids`, sql`w.contact_id`)} END
    FROM (${p.wanted}) AS w ORDER BY w.contact_id
    ON CONFLICT (contact_id) DO UPDATE SET wanted = excluded.wanted, updated_at = now(),
      mails = ${taken(sql`s.mails`, sql`excluded.wanted`, sql`s.contact_id`)}
    RETURNING s.contact_id, s.wanted, s.mails`;
}

/** SQL condition that an email got a slot. NULL if no slot was requested for it. */
export function hasSlotSql(emails: RawBuilder<unknown>, id: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`((${emails}->>(${id})::text)::numeric > 0)`;
}

/**
 * Takes slots for single emails that the caller has claimed. Returns the ids of emails that got no slot. Safe to run
 * twice.
 */
export async function takeEmailSlots(
  db: Db,
  p: { projectId: string; cap: FrequencyCap; emails: { id: string; contactId: string }[] },
): Promise<Set<string>> {
  if (p.emails.length === 0) return new Set();
  const asked = sql`unnest(${p.emails.map((m) => m.id)}::uuid[], ${p.emails.map((m) => m.contactId)}::uuid[]) AS a (id, contact_id)`;
  const wanted = sql`SELECT contact_id, array_agg(id ORDER BY id) AS ids FROM ${asked} GROUP BY contact_id`;
  const { rows } = await sql<{ id: string }>`
    WITH slots AS (${takeSlotsSql({ ...p, wanted })})
    SELECT a.id FROM ${asked} JOIN slots s ON s.contact_id = a.contact_id WHERE NOT ${hasSlotSql(sql`s.mails`, sql`a.id`)}
  `.execute(db);
  return new Set(rows.map((row) => row.id));
}

/**
 * Releases the slots of all emails of a campaign, if the project has a frequency cap. Call this function only before
 * the emails are deleted unsent. Rows are locked in the order of the contacts' ids.
 */
export async function releaseSlots(db: Db, p: { projectId: string; campaignId: string }): Promise<void> {
  await sql`
    WITH held AS MATERIALIZED (
      SELECT s.contact_id, e.id FROM frequency_slots s
      JOIN emails e ON e.campaign_id = ${p.campaignId} AND e.contact_id = s.contact_id AND e.project_id = s.project_id
      WHERE s.project_id = ${p.projectId} AND s.mails ? e.id::text
        AND EXISTS (SELECT FROM projects WHERE id = ${p.projectId} AND frequency_max IS NOT NULL) ORDER BY s.contact_id FOR NO KEY UPDATE OF s)
    UPDATE frequency_slots s SET mails = s.mails - h.id::text FROM held h WHERE s.contact_id = h.contact_id
  `.execute(db);
}

/** Tells whether an email that is not stored in `emails` yet would get a slot now. Takes no slot. */
export async function wouldGetSlot(
  db: Db,
  { cap, id, contactId }: { cap: FrequencyCap; id: string; contactId: string },
): Promise<boolean> {
  const held = sql`coalesce((SELECT mails FROM frequency_slots WHERE contact_id = ${contactId}), '{}')`;
  const taken = sql`take_frequency(${held}, ARRAY[${id}::uuid], ${contactId}::uuid, ${cap.max}::int, ${cap.days}::int)`;
  const { rows } = await sql<{
    fits: boolean;
  }>`SELECT coalesce(${hasSlotSql(taken, sql`${id}::uuid`)}, true) AS fits`.execute(db);
  return rows[0]?.fits ?? true;
}
