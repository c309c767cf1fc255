/**
 * The words of a campaign, and what its workflow and activities say to each other: ids, counts and times, never content
 * or addresses.
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
  /** The next chunk that nobody has worked on. */
  nextSeq: number;
  /**
   * Chunks that the workflow itself resumes: chunks with an interrupted turn, and due chunks that it has read from
   * Postgres. At most `LATER_MAX`, except in runs of an earlier version.
   */
  later: LaterChunk[];
  /** The chunks that wait in Postgres, as last heard; absent if none does. */
  waiting?: WaitingChunks | undefined;
  /** Stands for the settings by which chunks wait for an hour or a window, as last heard. */
  clock?: string | undefined;
  /**
   * Some recipients wait for the winner of its test, or will wait. Absent if it has no test, or nothing is known
   * about it yet.
   */
  testing?: boolean;
  /** Milliseconds since 1970: when to judge the test; absent until its share was sent. */
  testEndsAtMs?: number;
}

/** A summary of the chunks that wait in Postgres. Its size does not depend on how many they are. */
export interface WaitingChunks {
  /** Milliseconds since 1970: when the first of them is due. */
  dueAtMs: number;
  /** The first of them waits for an hour or a window. */
  shut: boolean;
  chunks: number;
  /** How many of them the provider never deferred, so that not all of their recipients had an attempt. */
  untried: number;
}

/**
 * The most chunks that a workflow carries in `later`. Each is about 150 bytes, so a campaign's state stays under 160 KB
 * (`test/workflows/payload-sizes.test.ts`).
 */
export const LATER_MAX = 1_000;

export interface LaterChunk {
  seq: number;
  /** Milliseconds since 1970; not before then. */
  dueAtMs: number;
  /** When the provider first put some of its mails off; null while it never did. */
  deferredSinceMs: number | null;
  /** How often it did. */
  deferrals: number;
  /** The row at which its last turn ended, if the round is not over. Absent when the next turn starts a round. */
  from?: string | undefined;
  /** True if emails of this round, before `from`, were deferred. */
  putOff?: boolean | undefined;
  /** It waits for the hour of its recipients or a window, until `dueAtMs`; other settings may let it go before. */
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
  /** Mails a second that the project may send now, 0 for no limit: it decides about queue and lanes. */
  rate?: number;
  /** True if it sent something, or was not allowed to. The provider's deferral period then starts again. */
  fresh?: boolean;
  /** The next turn goes on with this row. */
  from?: string | undefined;
  putOff?: boolean | undefined;
  /**
   * If `outcome` is `shut`: the instant of its next attempt, in milliseconds since 1970, and the settings that
   * determine it.
   */
  notBeforeMs?: number;
  clock?: string;
  /** The chunk waits in Postgres now, so the workflow keeps only a summary. */
  kept?: boolean;
}

/** The answer to a workflow that asks which chunks are due. */
export interface DueChunks {
  /** In the order in which they became due. They stay in Postgres until their turn starts. */
  due: LaterChunk[];
  /** The chunks that still wait; null if none does. */
  waiting: WaitingChunks | null;
}
