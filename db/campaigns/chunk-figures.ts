import { type RawBuilder, sql } from 'kysely';
import {
  type CampaignCounts,
  type ChunkFigures,
  NO_COUNTS,
  SERIES,
  type SeriesKind,
} from '../../rules/campaigns/counts.ts';
import type { Trx } from '../connection.ts';
import { OUTCOME_OF_E } from './outcomes.ts';
import { isOfCampaignSql } from './recipient-rows.ts';

interface FiguresRow extends CampaignCounts {
  seq: number;
  /**
   * Which of the six groupings the row belongs to, as the bits of GROUPING(). The bit of a column is 0 if the row is
   * grouped by that column.
   */
  of: number;
  variant: number | null;
  reason: string | null;
  sentHour: number | null;
  deliveredHour: number | null;
  openedHour: number | null;
  clickedHour: number | null;
  machineOpens: number;
  machineClicks: number;
}

const OF_VARIANT = 0b011111;
const OF_REASON = 0b101111;

/**
 * Counts the recipients of chunks of one campaign, by the chunk's `seq`, in the transaction's snapshot. One query reads
 * each chunk's range of ids once, which gives about 100 combinations of values per chunk. The query then groups these
 * combinations in six ways.
 */
export async function countChunkRecipients(
  trx: Trx,
  p: { projectId: string; campaignId: string; seqs: number[] },
): Promise<Map<number, ChunkFigures>> {
  if (p.seqs.length === 0) return new Map();
  // The columns have few combinations of hours, but the planner cannot know that. The planner would sort a million rows
  // on disk instead of hashing.
  await sql`SELECT set_config('enable_sort', 'off', true)`.execute(trx);
  const counted = { ...OUTCOME_OF_E, machineOpens: sql`e.machine_opens`, machineClicks: sql`e.machine_clicks` };
  const perEmail = Object.entries(counted).map(([name, of]): [string, RawBuilder<unknown>] => [
    name,
    name in OUTCOME_OF_E ? sql`(${of})::int` : of,
  ]);
  const { rows } = await sql<FiguresRow>`
    WITH combined AS MATERIALIZED (
      SELECT k.seq, e.variant, e.reason, ${sql.join(SERIES.map((kind) => sql`${hourOf(kind)} AS ${sql.ref(`${kind}Hour`)}`))},
        count(*) AS total, ${sumColumns(perEmail)}
      FROM campaign_chunks k JOIN emails e ON e.project_id = k.project_id AND e.id BETWEEN k.first_id AND k.last_id
      WHERE k.project_id = ${p.projectId} AND k.campaign_id = ${p.campaignId} AND k.seq = ANY(${p.seqs}::int[])
        AND ${isOfCampaignSql(sql`e.campaign_id`, p)}
      GROUP BY 1, 2, 3, 4, 5, 6, 7)
    SELECT seq, grouping(variant, reason, "sentHour", "deliveredHour", "openedHour", "clickedHour") AS of,
      variant, reason, "sentHour", "deliveredHour", "openedHour", "clickedHour",
      sum(total)::int AS total, ${sumColumns(Object.keys(counted).map((name) => [name, sql.ref(name)]))}
    FROM combined GROUP BY GROUPING SETS
      ((seq, variant), (seq, reason), (seq, "sentHour"), (seq, "deliveredHour"), (seq, "openedHour"), (seq, "clickedHour"))
  `.execute(trx);
  const found = new Map(p.seqs.map((seq) => [seq, newFigures()]));
  for (const row of rows) addRow(found.get(row.seq), row);
  return found;
}

function sumColumns(parts: [name: string, of: RawBuilder<unknown>][]): RawBuilder<unknown> {
  return sql.join(parts.map(([name, of]) => sql`sum(${of})::int AS ${sql.ref(name)}`));
}

function hourOf(kind: SeriesKind): RawBuilder<unknown> {
  return sql`floor(date_part('epoch', ${sql.ref(`e.${kind}_at`)}) / 3600)::int`;
}

function newFigures(): ChunkFigures {
  return {
    variants: [],
    byReason: {},
    hours: { sent: {}, delivered: {}, opened: {}, clicked: {} },
    machineOpens: 0,
    machineClicks: 0,
  };
}

function addRow(figures: ChunkFigures | undefined, row: FiguresRow): void {
  if (!figures) return;
  if (row.of === OF_VARIANT) {
    const names = Object.keys(NO_COUNTS) as (keyof CampaignCounts)[];
    const counts = Object.fromEntries(names.map((name) => [name, row[name]])) as unknown as CampaignCounts;
    figures.variants.push({ variant: row.variant, counts });
    figures.machineOpens += row.machineOpens;
    figures.machineClicks += row.machineClicks;
  } else if (row.of === OF_REASON) {
    if (row.reason !== null) figures.byReason[row.reason] = row.total;
  } else {
    for (const kind of SERIES) {
      const hour = row[`${kind}Hour`];
      if (hour !== null) figures.hours[kind][hour] = row.total;
    }
  }
}
