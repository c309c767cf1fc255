import { sql } from 'kysely';
import type { Db, Trx } from '../connection.ts';
import type { CampaignRef } from './campaigns.ts';
import { type CampaignCounts, countCampaign } from './stats.ts';

/** What the stats of one campaign say besides its counts. */
export interface StatsDetail {
  /** Recipients by why they were not sent to, or were lost. */
  byReason: Record<string, number>;
  machineOpens: number;
  machineClicks: number;
  series: SeriesHour[];
}

/** What happened within the hour that begins at `at`. */
export interface SeriesHour {
  at: Date;
  sent: number;
  delivered: number;
  opened: number;
  clicked: number;
}

const HOUR_MS = 3_600_000;
/** After three days next to nobody opens a campaign. */
const SERIES_HOURS = 72;
const SERIES = ['sent', 'delivered', 'opened', 'clicked'] as const;

/** Counts and detail in one snapshot. `series` has every hour from the one in which the campaign was started, and is empty before. */
export async function readStats(db: Db, p: CampaignRef): Promise<{ counts: CampaignCounts; detail: StatsDetail }> {
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return snapshot.execute(async (trx) => ({ counts: await countCampaign(trx, p), detail: await readDetail(trx, p) }));
}

interface GroupRow {
  /** Which of the grouping sets it is of: a bit is 0 for the column that it groups by. */
  of: number;
  reason: string | null;
  sent: number | null;
  delivered: number | null;
  opened: number | null;
  clicked: number | null;
  recipients: number;
  machineOpens: number;
  machineClicks: number;
}

const OF_ALL = 0b11111;
const OF_REASON = 0b01111;

/**
 * One pass over the recipients by the index (campaign_id, contact_id), which leaves some hundred combinations to be grouped in six ways. Hours are
 * numbered from the start.
 */
async function readDetail(trx: Trx, p: CampaignRef): Promise<StatsDetail> {
  const startedAt = await findStart(trx, p);
  const startMs = startedAt ? Math.floor(startedAt.getTime() / HOUR_MS) * HOUR_MS : null;
  const hour = (column: string) =>
    sql`floor((date_part('epoch', ${sql.ref(column)}) * 1000 - ${startMs ?? 0}::float8) / ${HOUR_MS}::float8)::int`;
  const { rows } = await sql<GroupRow>`
    WITH hours AS MATERIALIZED (
      SELECT reason, ${sql.join(SERIES.map((what) => sql`${hour(`${what}_at`)} AS ${sql.ref(what)}`))}, count(*) AS recipients,
        sum(machine_opens) AS machine_opens, sum(machine_clicks) AS machine_clicks
      FROM emails WHERE project_id = ${p.projectId} AND campaign_id = ${p.id} GROUP BY 1, 2, 3, 4, 5)
    SELECT grouping(reason, sent, delivered, opened, clicked) AS of, reason, sent, delivered, opened, clicked,
      coalesce(sum(recipients), 0)::int AS recipients, coalesce(sum(machine_opens), 0)::int AS "machineOpens",
      coalesce(sum(machine_clicks), 0)::int AS "machineClicks"
    FROM hours GROUP BY GROUPING SETS ((), (reason), (sent), (delivered), (opened), (clicked))
  `.execute(trx);
  const all = rows.find((row) => row.of === OF_ALL);
  return {
    byReason: Object.fromEntries(
      rows.flatMap((row) => (row.of === OF_REASON && row.reason !== null ? [[row.reason, row.recipients]] : [])),
    ),
    machineOpens: all?.machineOpens ?? 0,
    machineClicks: all?.machineClicks ?? 0,
    series: startMs === null ? [] : seriesOf(rows, startMs),
  };
}

async function findStart(trx: Trx, p: CampaignRef): Promise<Date | null> {
  const row = await trx
    .selectFrom('campaigns')
    .select('started_at')
    .where('project_id', '=', p.projectId)
    .where('id', '=', p.id)
    .executeTakeFirst();
  return row?.started_at ?? null;
}

function seriesOf(rows: GroupRow[], startMs: number): SeriesHour[] {
  const counted = new Map<string, number>();
  for (const row of rows)
    for (const what of SERIES) if (row[what] !== null) counted.set(`${what} ${row[what]}`, row.recipients);
  return Array.from({ length: SERIES_HOURS }, (_, hour) => {
    const of = (what: (typeof SERIES)[number]) => counted.get(`${what} ${hour}`) ?? 0;
    const at = new Date(startMs + hour * HOUR_MS);
    return { at, sent: of('sent'), delivered: of('delivered'), opened: of('opened'), clicked: of('clicked') };
  });
}
