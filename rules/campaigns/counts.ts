/**
 * Counts of one campaign's recipients. In every snapshot, `pending + sent + failed + skipped = total`. Source: contract
 * §6.4 Sum.
 */
export interface CampaignCounts {
  total: number;
  /** The provider does not have the email yet: it waits, is being sent, or is on hold. */
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
  /**
   * Not sent because of an error: the provider did not accept the email, its text could not be rendered, or the project
   * had used up its monthly limit.
   */
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

/** The counts that a campaign's statistics also show hour by hour. */
export const SERIES = ['sent', 'delivered', 'opened', 'clicked'] as const;
export type SeriesKind = (typeof SERIES)[number];

/** Counts of the recipients of one chunk. The counts are plain JSON, because they are stored with the chunk. */
export interface ChunkFigures {
  /**
   * Counts for each variant, by its number. The number is null if the campaign has no variants, or if no variant has
   * been assigned yet.
   */
  variants: { variant: number | null; counts: CampaignCounts }[];
  byReason: Record<string, number>;
  /** Counts by hour. The key is the number of hours since 1970. */
  hours: Record<SeriesKind, Record<string, number>>;
  machineOpens: number;
  machineClicks: number;
}
