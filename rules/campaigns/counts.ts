/**
 * Counts of one campaign's recipients; `pending + sent + failed + skipped = total` in every snapshot. Source:
 * contract §6.4 Sum.
 */
export interface CampaignCounts {
  total: number;
  /** Not yet handed over to the provider: waiting, being sent, or held. */
  pending: number;
  /** Accepted by the provider, regardless of later events. */
  sent: number;
  delivered: number;
  opened: number;
  clicked: number;
  /** Permanently refused by the receiving server, at once or later. */
  bounced: number;
  complained: number;
  unsubscribed: number;
  /** Attempted and not accepted by the provider, or beyond the monthly limit. */
  failed: number;
  /** Not attempted: not subscribed, suppressed, cancelled and similar reasons. */
  skipped: number;
}

export const NO_COUNTS: Readonly<CampaignCounts> = {
  total: 0,
  pending: 0,
  sent: 0,
  delivered: 0,
  opened: 0,
  clicked: 0,
  bounced: 0,
  complained: 0,
  unsubscribed: 0,
  failed: 0,
  skipped: 0,
};

export function addCounts(sum: CampaignCounts, counts: CampaignCounts): void {
  for (const name of Object.keys(NO_COUNTS) as (keyof CampaignCounts)[]) sum[name] += counts[name];
}

export const SERIES = ['sent', 'delivered', 'opened', 'clicked'] as const;
export type SeriesKind = (typeof SERIES)[number];

/** Outcomes of the recipients of one chunk. Plain JSON, because it is stored with the chunk. */
export interface ChunkFigures {
  /**
   * By the number of the variant that recipients got. Null if the campaign has no variants, or the variant is not
   * known yet.
   */
  variants: { variant: number | null; counts: CampaignCounts }[];
  byReason: Record<string, number>;
  /** Counts by hour. Hours are numbered from 1970. */
  hours: Record<SeriesKind, Record<string, number>>;
  machineOpens: number;
  machineClicks: number;
}
