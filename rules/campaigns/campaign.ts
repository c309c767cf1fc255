/**
 * The values of a campaign, and the data that its workflow and activities exchange: ids, counts and times, never
 * content or addresses.
 */

export const CAMPAIGN_STATUSES = ['DRAFT', 'SCHEDULED', 'SENDING', 'PAUSED', 'SENT', 'CANCELLED'] as const;
export const AUDIENCE_TYPES = ['ALL', 'SEGMENT', 'FILTERED'] as const;
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number];
export type AudienceType = (typeof AUDIENCE_TYPES)[number];

/**
 * Why a campaign is PAUSED: a user requested it, its content ran out of time for many recipients in a row, or the
 * database was restored from a backup, so that part of it may have been sent already.
 */
export const PAUSED_REASONS = ['requested', 'template_timeout', 'database_restored'] as const;
export type PausedReason = (typeof PAUSED_REASONS)[number];

/** The argument of `campaignSend`; `state` is what a continued run carries on. Plain JSON. */
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
  /** The highest chunk so far. */
  lastSeq: number;
  /** The next chunk that has had no turn. */
  nextSeq: number;
  /**
   * Chunks that the workflow itself resumes: chunks with an interrupted turn, and due chunks that it has read from
   * Postgres. At most `LATER_MAX`, except in runs of an earlier version.
   */
  later: ChunkState[];
  /** The chunks that wait in Postgres, as last read; absent if none wait. */
  waiting?: WaitingChunks | undefined;
  /** Identifies the settings of local times and windows that chunks wait for, as last read. */
  clock?: string | undefined;
  /**
   * Some recipients wait for the winner of its test, or will wait. Absent if it has no test, or nothing is known
   * about it yet.
   */
  testing?: boolean;
  /** Milliseconds since 1970: when to choose the winner of the test; absent until its share was sent. */
  testEndsAtMs?: number;
}

/** A summary of the chunks that wait in Postgres. Its size does not depend on their number. */
export interface WaitingChunks {
  /** Milliseconds since 1970: when the first of them is due. */
  dueAtMs: number;
  /** True if the first of them waits for a local time or a window. */
  shut: boolean;
  chunks: number;
  /** The number of chunks that the provider never deferred, so some of their recipients had no attempt yet. */
  untried: number;
}

/**
 * The most chunks that a workflow carries in `later`. Each is about 150 bytes, so a campaign's state stays under 160 KB
 * (`test/workflows/payload-sizes.test.ts`).
 */
export const LATER_MAX = 1_000;

/** A chunk that needs a turn, with the results of its earlier turns. Stored in the state of its workflow. */
export interface ChunkState {
  seq: number;
  /** Milliseconds since 1970: the earliest time of the next turn. */
  dueAtMs: number;
  /** When the provider first deferred some of its emails; null if it never did. */
  deferredSinceMs: number | null;
  /** How often the provider deferred emails. */
  deferrals: number;
  /** The row at which its last turn ended, if the round is not complete. Absent if the next turn starts a round. */
  from?: string | undefined;
  /** True if emails of this round, before `from`, were deferred. */
  putOff?: boolean | undefined;
  /**
   * Set if the chunk waits for its recipients' local time or a window until `dueAtMs`. If settings change, the chunk
   * may be due earlier.
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
 * Outcome of a chunk: `more` when its turn is over, `deferred` when the provider deferred some emails, `paced` when
 * the send rate or the project's processor budget is used up, which does not count as a failure. `paused`: the
 * campaign is paused until it is resumed. `shut`: it is not the local time of its recipients, or outside the sending
 * window.
 */
export type ChunkOutcome = 'done' | 'more' | 'deferred' | 'held' | 'paused' | 'ended' | 'paced' | 'shut';

/** Optional fields are absent in results of earlier versions, whose histories continue unchanged. */
export interface ChunkResult {
  outcome: ChunkOutcome;
  sent: number;
  /** If `outcome` is `deferred` or `paced`: how long to wait before the next attempt. */
  retryAfterMs: number;
  /**
   * Emails per second that the project may send now; 0 means no limit. It decides the queue and the number of lanes.
   */
  rate?: number;
  /** True if the turn sent an email, or was not allowed to send. The deferral period then starts again. */
  fresh?: boolean;
  /** The next turn continues with this row. */
  from?: string | undefined;
  putOff?: boolean | undefined;
  /**
   * If `outcome` is `shut`: the instant of the chunk's next turn, in milliseconds since 1970, and the settings that
   * determine it.
   */
  notBeforeMs?: number;
  clock?: string;
  /** The chunk waits in Postgres now, so the workflow keeps only a summary. */
  kept?: boolean;
}

/** The due chunks that a workflow requested. */
export interface DueChunks {
  /** In the order in which they became due. They stay in Postgres until their turn starts. */
  due: ChunkState[];
  /** The chunks that still wait; null if none wait. */
  waiting: WaitingChunks | null;
}
