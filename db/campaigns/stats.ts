import { type CampaignCounts, NO_COUNTS, SERIES } from '../../rules/campaigns/counts.ts';
import type { Db } from '../connection.ts';
import type { CampaignRef } from './campaigns.ts';
import { type Figures, readFigures } from './figures.ts';
import { readMachineHours, SERIES_HOURS } from './machine-hours.ts';

/** Statistics of one campaign besides its counts. */
export interface StatsDetail {
  /** Numbers of recipients by reason: recipients who were skipped, and recipients of failed or bounced emails. */
  byReason: Record<string, number>;
  machineOpens: number;
  machineClicks: number;
  series: SeriesHour[];
  machineSeries: MachineHour[];
}

/** Events within the hour that starts at `at`. */
export interface SeriesHour {
  at: Date;
  sent: number;
  delivered: number;
  opened: number;
  clicked: number;
}

/** Opens and clicks by bots within the hour that starts at `at`. */
export interface MachineHour {
  at: Date;
  opens: number;
  clicks: number;
}

const HOUR_MS = 3_600_000;

/** Counts the recipients of each campaign by outcome, by campaign id. A campaign without recipients is absent. */
export async function countRecipientsByCampaign(
  db: Db,
  p: { projectId: string; ids: readonly string[] },
): Promise<Map<string, CampaignCounts>> {
  const figures = await readFigures(db, p);
  return new Map([...figures].map(([id, { counts }]) => [id, counts]));
}

/** Counts the recipients of one campaign by outcome. */
export async function countCampaignRecipients(db: Db, p: CampaignRef): Promise<CampaignCounts> {
  const counts = await countRecipientsByCampaign(db, { projectId: p.projectId, ids: [p.id] });
  return counts.get(p.id) ?? NO_COUNTS;
}

/**
 * Reads all statistics of one campaign in one snapshot. `figures` is undefined if the campaign has no recipients. Both
 * hourly series have one entry per hour for 72 hours, from the hour in which the campaign started. They are empty
 * before the start. The hourly opens and clicks by bots are read separately, not in the snapshot.
 */
export async function readStats(
  db: Db,
  p: CampaignRef & { startedAt: Date | null },
): Promise<{ counts: CampaignCounts; detail: StatsDetail; figures: Figures | undefined }> {
  const figures = (await readFigures(db, { projectId: p.projectId, ids: [p.id] })).get(p.id);
  const { byReason = {}, machineOpens = 0, machineClicks = 0 } = figures ?? {};
  const hours = p.startedAt === null ? [] : listHoursFrom(p.startedAt);
  const machines = hours.length > 0 && machineOpens + machineClicks > 0 ? await readMachineHours(db, p) : undefined;
  const detail = {
    byReason,
    machineOpens,
    machineClicks,
    series: hours.map((hour) => countPeopleInHour(hour, figures)),
    machineSeries: hours.map((hour) => ({
      at: startOfHour(hour),
      ...(machines?.get(hour) ?? { opens: 0, clicks: 0 }),
    })),
  };
  return { counts: figures?.counts ?? NO_COUNTS, detail, figures };
}

const startOfHour = (hour: number) => new Date(hour * HOUR_MS);

function listHoursFrom(startedAt: Date): number[] {
  const first = Math.floor(startedAt.getTime() / HOUR_MS);
  return Array.from({ length: SERIES_HOURS }, (_, n) => first + n);
}

function countPeopleInHour(hour: number, figures: Figures | undefined): SeriesHour {
  const of = SERIES.map((kind) => [kind, figures?.hours[kind].get(hour) ?? 0]);
  return { at: startOfHour(hour), ...Object.fromEntries(of) } as SeriesHour;
}
