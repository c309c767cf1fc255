import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { createMonthRowOfCampaign, insertAudiencePage } from '../../db/campaigns/audience.ts';
import type { CampaignStart } from '../../db/campaigns/campaigns.ts';
import { findSendSettings, reopenChunks, skipCancelledRecipients } from '../../db/campaigns/chunks.ts';
import { readDueChunks, storeChunkWaits } from '../../db/campaigns/waiting-chunks.ts';
import { createSuppressionPads } from '../../db/contacts/suppressions.ts';
import { inTransaction } from '../../db/transaction.ts';
import { advanceStart, findStartEnd, finishCampaign, type StartState } from '../../engine/campaigns/lifecycle.ts';
import { advanceTest, type TestState } from '../../engine/campaigns/variant-test.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import {
  CAMPAIGN_OPEN,
  type ChunkResult,
  type ChunkState,
  type DueChunks,
  LATER_MAX,
} from '../../rules/campaigns/campaign.ts';
import type { ActivityDeps } from '../deps.ts';
import { withHeartbeats } from '../heartbeats.ts';
import { CampaignSending, type ChunkInput, getCampaignSendRate } from './sending.ts';

/** The interval between two heartbeats, far below the workflow's heartbeat timeout of 10 s. */
const HEARTBEAT_MS = 2_000;
const AUDIENCE_TURN_MS = 20_000;
/**
 * The maximum number of audience pages that one turn adds to the ledger. After the turn, the workflow may start to send
 * to the added recipients.
 */
const PAGES_AT_A_TIME_MAX = 16;
const SKIP_ROWS = 5_000;
/** The maximum number of due chunks that a workflow reads at a time: four for each of its lanes. */
const DUE_CHUNKS = 64;

export interface DueInput extends CampaignStart {
  /** The activity reads only chunks with a number below this. The chunks from this number on have had no turn yet. */
  before: number;
  /** The numbers of chunks that the workflow has already read or is running. */
  except: number[];
}

export interface KeepInput extends CampaignStart {
  chunks: ChunkState[];
  /** Identifies the settings about when email may be sent, in the version that the workflow read last. */
  clock: string | undefined;
}

export interface AudienceInput extends CampaignStart {
  /**
   * The number of times that this run of the workflow has called the activity before. Workflows of earlier releases do
   * not pass it.
   */
  round?: number;
}

/** `rate`: the send rate in emails per second; 0 means no limit. */
export type CampaignState =
  | Exclude<StartState, { phase: 'sending' | 'paused' }>
  /** `clock` identifies the settings that decide when email may be sent. */
  | { phase: 'sending' | 'paused'; rate: number; clock?: string; test?: { testing: boolean; lastSeq: number } };

export type AudienceTaken =
  /** `sendNow`: the workflow may send to the added recipients while further recipients are added. */
  | { outcome: 'taken'; done: boolean; recipients: number; lastSeq: number; sendNow?: boolean; testing?: boolean }
  | { outcome: 'ended' };
export type FinishResult = { outcome: 'sent' } | { outcome: 'open'; openChunks: number[] } | { outcome: 'ended' };

/**
 * The result of a cancelled start of a campaign. Earlier releases returned only `skipped`, so recorded results may lack
 * the other two fields.
 */
export interface SkippedRecipients {
  skipped: number;
  status?: 'SENT' | 'CANCELLED';
  reason?: string;
}

export type CampaignControlActivities = ReturnType<typeof createCampaignControlActivities>;
export type CampaignChunkActivities = ReturnType<typeof createCampaignChunkActivities>;

/**
 * The short activities of a campaign. An activity makes a change in the database only if the change was not made
 * before. Running an activity twice therefore does no harm.
 */
export function createCampaignControlActivities({ db, config }: Pick<ActivityDeps, 'db' | 'config'>) {
  return {
    /** Reads the state of the campaign, and changes it to SENDING when its start time is reached. */
    async readCampaignStart(start: CampaignStart): Promise<CampaignState> {
      const state = await inTransaction(db, (trx) => advanceStart(trx, start));
      if (!('mode' in state)) return state;
      const { phase, clock, test } = state;
      return { phase, rate: getCampaignSendRate(config, state), clock, ...(test && { test }) };
    },

    /** Marks the campaign as SENT. If recipients are left, returns their chunks instead. */
    async finishCampaignSend(start: CampaignStart): Promise<FinishResult> {
      if (await inTransaction(db, (trx) => finishCampaign(trx, start))) return { outcome: 'sent' };
      if (!(await findSendSettings(db, start))) return { outcome: 'ended' };
      return { outcome: 'open', openChunks: await reopenChunks(db, { ...start, limit: LATER_MAX }) };
    },

    /** Returns the chunks of the campaign that are due, and a summary of the chunks that still wait. */
    async readDueChunks({ before, except, ...start }: DueInput): Promise<DueChunks> {
      return readDueChunks(db, { ...start, before, except, limit: DUE_CHUNKS });
    },

    /** Stores waiting chunks in Postgres. Runs of earlier releases kept these chunks in the workflow's memory. */
    async keepChunks({ chunks, clock, ...start }: KeepInput): Promise<void> {
      const waits = chunks.map((chunk) => ({ chunk, clock: chunk.shut ? (clock ?? '') : null }));
      await storeChunkWaits(db, { ...start, waits });
    },

    /**
     * Starts the waiting time of the campaign's variant test when the test's share is sent. When the waiting time is
     * over, chooses the winner.
     */
    async judgeCampaignTest(start: CampaignStart): Promise<TestState> {
      return inTransaction(db, (trx) => advanceTest(trx, start));
    },

    /**
     * Runs after a start of a campaign was cancelled. Marks all recipients that got no email as skipped. Returns their
     * number, and the status and reason with which the start ended.
     */
    async skipCancelledRecipients(start: CampaignStart): Promise<SkippedRecipients> {
      const end = await findStartEnd(db, start);
      // The campaign is still open under this start, so the workflow fails. Recovery then starts a new workflow, which
      // continues from the campaign's current state.
      if (end.status === 'OPEN')
        throw ApplicationFailure.nonRetryable('the start of the campaign has not ended', CAMPAIGN_OPEN);
      let skipped = 0;
      for (;;) {
        const rows = await skipCancelledRecipients(db, { ...start, limit: SKIP_ROWS });
        skipped += rows;
        if (rows < SKIP_ROWS) return { skipped, ...end };
        Context.current().heartbeat();
      }
    },
  };
}

/** The long activities of a campaign: reading the audience and sending the chunks. */
export function createCampaignChunkActivities(deps: ConstructorParameters<typeof CampaignSending>[0]) {
  const { config, db, stopping } = deps;
  const pads = createSuppressionPads(deriveKey(config.secretKey, 'suppression'));
  const sending = new CampaignSending(deps);
  return {
    /**
     * Adds pages of the audience to the ledger. The first call adds one small page, so that sending can start soon.
     * Later calls add larger pages, and more of them, up to a maximum. No page is added twice.
     */
    async takeCampaignAudience({ round, ...start }: AudienceInput): Promise<AudienceTaken> {
      return withHeartbeats(async (cancelled) => {
        const untilMs = Date.now() + AUDIENCE_TURN_MS;
        const pages = round === undefined ? Number.POSITIVE_INFINITY : Math.min(PAGES_AT_A_TIME_MAX, 2 ** round / 2);
        await createMonthRowOfCampaign(db, start);
        for (let taken = 1; ; taken++) {
          const page = await inTransaction(db, (trx) =>
            insertAudiencePage(trx, { ...start, round, suppressionPads: pads }),
          );
          if (page.outcome === 'stopped') return { outcome: 'ended' };
          const isTurnOver = taken >= pages || Date.now() > untilMs || stopping.aborted;
          if (page.done || isTurnOver) return { ...page, sendNow: round !== undefined };
          if (cancelled.aborted) throw new CancelledFailure('the campaign was cancelled');
        }
      }, HEARTBEAT_MS);
    },

    /**
     * Runs one turn of a chunk. If Temporal runs the turn twice, the second attempt claims the rows of the first
     * attempt again, and the database ignores late results of the first attempt.
     */
    async sendCampaignChunk(input: ChunkInput): Promise<ChunkResult> {
      return withHeartbeats((cancelled) => sending.sendChunkTurn(input, cancelled), HEARTBEAT_MS);
    },

    /**
     * Marks as failed all deferred emails of a chunk that was deferred for a day. The next turn sends the chunk's other
     * emails.
     */
    async expireCampaignChunk(chunk: ChunkInput): Promise<ChunkResult> {
      return sending.expire(chunk);
    },
  };
}
