import type { Db } from '../connection.ts';
import type { CampaignRef } from './campaigns.ts';
import { SERIES } from './chunk-figures.ts';
import { type CampaignCounts, NO_COUNTS } from './counts.ts';
import { type Figures, readFigures } from './figures.ts';

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

/** Counts of campaigns by id; one that has no recipient is missing. */
export async function countCampaigns(
  db: Db,
  p: { projectId: string; ids: readonly string[] },
): Promise<Map<string, CampaignCounts>> {
  const figures = await readFigures(db, p);
  return new Map([...figures].map(([id, { counts }]) => [id, counts]));
}

/** Counts of one campaign. */
export async function countCampaign(db: Db, p: CampaignRef): Promise<CampaignCounts> {
  const counts = await countCampaigns(db, { projectId: p.projectId, ids: [p.id] });
  return counts.get(p.id) ?? NO_COUNTS;
}

/**
 * All figures of one campaign in one snapshot; `figures` undefined where it has no recipients. `series` has every hour
 * from the one in which it was started, and is empty before.
 */
export async function readStats(
  db: Db,
  p: CampaignRef & { startedAt: Date | null },
): Promise<{ counts: CampaignCounts; detail: StatsDetail; figures: Figures | undefined }> {
  const figures = (await readFigures(db, { projectId: p.projectId, ids: [p.id] })).get(p.id);
  const { byReason = {}, machineOpens = 0, machineClicks = 0 } = figures ?? {};
  const series = p.startedAt === null ? [] : seriesOf(figures, p.startedAt);
  return { counts: figures?.counts ?? NO_COUNTS, detail: { byReason, machineOpens, machineClicks, series }, figures };
}

function seriesOf(figures: Figures | undefined, startedAt: Date): SeriesHour[] {
  const first = Math.floor(startedAt.getTime() / HOUR_MS);
  return Array.from({ length: SERIES_HOURS }, (_, n) => {
    const of = SERIES.map((kind) => [kind, figures?.hours[kind].get(first + n) ?? 0]);
    return { at: new Date((first + n) * HOUR_MS), ...Object.fromEntries(of) } as SeriesHour;
  });
}
