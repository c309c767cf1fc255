import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { CampaignRecipientTiming } from '../../rules/campaigns/gate.ts';
import type { LatePolicy } from '../../rules/campaigns/timing.ts';
import type { SendingWindow } from '../../rules/time/sending-window.ts';
import type { Db } from '../connection.ts';
import type { ChunkRef } from './chunks.ts';

/** The sending window that applies to a campaign `k` of a project `p`. */
export const EFFECTIVE_WINDOW = sql`CASE WHEN k.own_window THEN k.sending_window ELSE p.sending_window END`;

/**
 * The result of a check that a chunk's recipients may get email now. The result is valid while the settings are
 * unchanged and the window is open.
 */
export interface OpenGate {
  /** Identifies the settings that decide when the campaign's email may be sent. */
  key: string;
  /** When the sending window closes. Null if the window does not close. */
  closesAt: Date | null;
}

/**
 * A string that identifies the timing settings of a campaign `k` and its project `p`. Different settings give different
 * strings.
 */
export const CLOCK_KEY = sql<string>`
  concat_ws(' ', coalesce((${EFFECTIVE_WINDOW})::text, '-'), p.timezone, coalesce(k.send_at_local, '-'), k.late_policy)`;

/** SQL condition for a campaign `k` and its project `p`: the check of a chunk is still valid. */
export function isGateOpenSql({ key, closesAt }: OpenGate): RawBuilder<SqlBool> {
  return sql<SqlBool>`${CLOCK_KEY} = ${key} AND now() < coalesce(${closesAt}::timestamptz, 'infinity')`;
}

/**
 * Returns the time zone of a chunk's recipients, the timing settings of the campaign, and the time of Postgres.
 * Undefined if the chunk was deleted.
 */
export async function findChunkTiming(
  db: Db,
  p: ChunkRef,
): Promise<{ clock: CampaignRecipientTiming; key: string; now: Date } | undefined> {
  const { rows } = await sql<ClockRow>`
    SELECT h.zone, p.timezone, ${EFFECTIVE_WINDOW} AS sending_window, k.send_at_local, k.late_policy,
      coalesce(k.going_since, k.started_at) AS going_since, ${CLOCK_KEY} AS key, now() AS now,
      CASE WHEN h.rest THEN k.winner_at END AS winner_at
    FROM campaign_chunks h JOIN campaigns k ON k.id = h.campaign_id JOIN projects p ON p.id = k.project_id
    WHERE h.campaign_id = ${p.campaignId} AND h.seq = ${p.seq} AND h.project_id = ${p.projectId} AND k.project_id = ${p.projectId}
  `.execute(db);
  return rows[0] && toClock(rows[0]);
}

/** Stores the instant until which a chunk's recipients wait. Null if the recipients do not wait. */
export async function storeNotBefore(db: Db, p: ChunkRef & { notBefore: Date | null }): Promise<void> {
  await sql`
    UPDATE campaign_chunks SET not_before = ${p.notBefore}
    WHERE campaign_id = ${p.campaignId} AND seq = ${p.seq} AND project_id = ${p.projectId} AND not_before IS DISTINCT FROM ${p.notBefore}
  `.execute(db);
}

/**
 * Finds, for campaigns that wait for a local time or a window, when their next recipients may get the email. Returns
 * the instants by campaign id.
 */
export async function findNextOpenings(db: Db, p: { projectId: string; ids: string[] }): Promise<Map<string, Date>> {
  if (p.ids.length === 0) return new Map();
  const { rows } = await sql<{ id: string; at: Date }>`
    SELECT k.campaign_id AS id, min(k.not_before) AS at
    FROM campaign_chunks k JOIN campaigns c ON c.id = k.campaign_id AND c.status IN ('SENDING', 'PAUSED')
    WHERE k.campaign_id = ANY(${p.ids}::uuid[]) AND k.project_id = ${p.projectId} AND k.done_at IS NULL AND k.not_before > now()
    GROUP BY 1
  `.execute(db);
  return new Map(rows.map(({ id, at }) => [id, at]));
}

/**
 * Returns SQL for the instant until which a recipient (a row of `emails`) waits for a local time or a window. NULL if
 * the recipient does not wait. The instant is stored once with the chunk, so that a million recipients need no update.
 * @param email the alias of `emails`
 */
export function notBeforeSql(email: string): RawBuilder<Date | null> {
  const column = (name: string) => sql.ref(`${email}.${name}`);
  return sql<Date | null>`CASE WHEN ${column('status')} IN ('PENDING', 'HELD') THEN (
    SELECT k.not_before FROM campaign_chunks k
    WHERE k.campaign_id = ${column('campaign_id')} AND k.first_id <= ${column('id')} AND k.last_id >= ${column('id')} AND k.not_before > now()
    LIMIT 1) END`;
}

interface ClockRow {
  zone: string | null;
  timezone: string;
  sending_window: SendingWindow | null;
  send_at_local: string | null;
  late_policy: LatePolicy;
  going_since: Date | null;
  winner_at: Date | null;
  key: string;
  now: Date;
}

function toClock(row: ClockRow) {
  const clock: CampaignRecipientTiming = {
    zone: row.zone,
    projectZone: row.timezone,
    window: row.sending_window,
    sendAtLocal: row.send_at_local,
    latePolicy: row.late_policy,
    goingSince: row.going_since,
    winnerAt: row.winner_at,
  };
  return { clock, key: row.key, now: row.now };
}
