/**
 * The enums of a campaign, and the data that its workflow and activities exchange. This data contains ids, counts and
 * times, never content or addresses.
 */

export const CAMPAIGN_STATUSES = ['DRAFT', 'SCHEDULED', 'SENDING', 'PAUSED', 'SENT', 'CANCELLED'] as const;
export const AUDIENCE_TYPES = ['ALL', 'SEGMENT', 'FILTERED'] as const;
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number];
export type AudienceType = (typeof AUDIENCE_TYPES)[number];

/**
 * Why a campaign is PAUSED: a user paused it (`requested`), rendering exceeded the time limit for many recipients in a
 * row (`template_timeout`), or the database was restored from a backup (`database_restored`). After a restore, some
 * emails of the campaign may have been sent although the database does not show it.
 */
export const PAUSED_REASONS = ['requested', 'template_timeout', 'database_restored'] as const;
export type PausedReason = (typeof PAUSED_REASONS)[number];

/**
 * The type of the failure with which a workflow ends if it has read that its start has ended, and the row is open. Only
 * a database that was restored in between can cause this.
 */
export const CAMPAIGN_OPEN = 'CAMPAIGN_OPEN';

/**
 * The argument of the workflow `campaignSend`, in plain JSON. If the workflow continues as a new run, `state` is the
 * progress of the earlier run.
 */
export interface CampaignInput {
  projectId: string;
  campaignId: string;
  sendNo: number;
  state?: CampaignProgress;
}

/** Progress of a send. Chunks are numbered from 1 while the audience is read. */
export interface CampaignProgress {
  audienceDone: boolean;
  recipients: number;
  /** The highest number of a chunk so far. */
  lastSeq: number;
  /** The number of the first chunk that has had no turn yet. */
  nextSeq: number;
  /**
   * Chunks that need another turn, and for which the workflow stores this fact, not Postgres. These are chunks with an
   * interrupted turn, and due chunks that the workflow has read from Postgres. At most `LATER_MAX`, except in runs that
   * an earlier version started.
   */
  later: ChunkState[];
  /** A summary of the chunks that wait in Postgres, as the workflow last read it. Absent if no chunk waits there. */
  waiting?: WaitingChunks | undefined;
  /**
   * Identifies the settings that determine until when chunks wait (local send time and sending windows), as the
   * workflow last read them. If the settings change, this value changes.
   */
  clock?: string | undefined;
  /**
   * True if some recipients wait for the winner of the campaign's test, or will wait. Absent if the campaign has no
   * test, or the workflow has not read this yet.
   */
  testing?: boolean;
  /**
   * Milliseconds since 1970: when to choose the winner of the test. Absent until the emails of the test have been sent.
   */
  testEndsAtMs?: number;
}

/** A summary of the chunks that wait in Postgres. The size of the summary does not depend on the number of chunks. */
export interface WaitingChunks {
  /** Milliseconds since 1970: when the first chunk is due. */
  dueAtMs: number;
  /** True if the first chunk waits for its recipients' local send time or for a sending window. */
  shut: boolean;
  chunks: number;
  /**
   * The number of chunks that wait for another reason than a deferral by the provider. Some recipients of these chunks
   * may have had no attempt yet.
   */
  untried: number;
}

/**
 * The maximum number of chunks in `later`. A chunk takes about 150 bytes, so a campaign's state stays under 160 KB
 * (`test/workflows/payload-sizes.test.ts`).
 */
export const LATER_MAX = 1_000;

/** A chunk that needs a turn, with the results of its earlier turns. The campaign's workflow stores it in its state. */
export interface ChunkState {
  seq: number;
  /** Milliseconds since 1970: the earliest time of the next turn. */
  dueAtMs: number;
  /**
   * When the first of the turns that `deferrals` counts ended, moved later by the time for which the sending window was
   * closed since. Null if `deferrals` is 0.
   */
  deferredSinceMs: number | null;
  /** How many turns in a row have ended `deferred`. A turn with `ChunkResult.fresh` starts the count again. */
  deferrals: number;
  /**
   * The row of the ledger at which the last turn ended, if it did not reach the end of the chunk. The next turn
   * continues there. Absent if the next turn starts at the first row of the chunk.
   */
  from?: string | undefined;
  /**
   * True if `from` is set and the provider has deferred emails of rows before it, so the chunk must also start again at
   * its first row.
   */
  putOff?: boolean | undefined;
  /**
   * True if the chunk waits until `dueAtMs` for its recipients' local send time or for a sending window. If a user
   * changes these settings, the chunk may be due earlier.
   */
  shut?: boolean | undefined;
}

export const NEW_CAMPAIGN: CampaignProgress = {
  audienceDone: false,
  recipients: 0,
  lastSeq: 0,
  nextSeq: 1,
  later: [],
};

/**
 * The outcome of a chunk's turn.
 * - `done`: every recipient of the chunk has a result: the email was sent, failed or was skipped.
 * - `more`: the turn is over, and recipients are left.
 * - `deferred`: the turn reached the end of the chunk, and the provider deferred some of its emails.
 * - `paced`: the send rate or the project's processor budget is used up, or the route is paused. A paced turn is not a
 * failure.
 * - `held`: the project is on hold.
 * - `paused`: a user or the service paused the campaign.
 * - `ended`: the campaign no longer sends, for example because a user cancelled it.
 * - `shut`: it is before the recipients' local send time, or outside the sending window.
 */
export type ChunkOutcome = 'done' | 'more' | 'deferred' | 'held' | 'paused' | 'ended' | 'paced' | 'shut';

/**
 * The result of a chunk's turn. Optional fields are absent in results that an earlier version wrote to Temporal's
 * histories.
 */
export interface ChunkResult {
  outcome: ChunkOutcome;
  sent: number;
  /** How long to wait before the next turn, if `outcome` is `deferred` or `paced`. */
  retryAfterMs: number;
  /**
   * Emails per second that the project may send now; 0 means no limit. The workflow chooses the task queue and the
   * number of lanes by this rate.
   */
  rate?: number;
  /**
   * True if the turn sent an email, or if a pause or a hold kept it from sending. The period in which deferred emails
   * are retried then starts again.
   */
  fresh?: boolean;
  /** True if `outcome` is `paced` because the route is paused. */
  isRoutePaused?: true;
  /** The row of the ledger with which the next turn continues. */
  from?: string | undefined;
  putOff?: boolean | undefined;
  /**
   * If `outcome` is `shut`: the instant of the chunk's next turn, in milliseconds since 1970. `clock` identifies the
   * settings that determine it.
   */
  notBeforeMs?: number;
  clock?: string;
  /** True if the chunk now waits in Postgres, so the workflow keeps only a summary of it. */
  kept?: boolean;
}

/** The chunks that a workflow gets when it asks for due chunks. */
export interface DueChunks {
  /** The due chunks, in the order in which they became due. Due chunks stay in Postgres until their turn starts. */
  due: ChunkState[];
  /** A summary of the chunks that still wait; null if no chunk waits. */
  waiting: WaitingChunks | null;
}
