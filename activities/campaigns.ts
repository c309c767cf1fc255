import { CancelledFailure, Context } from '@temporalio/activity';
import type { EmailProvider, ProviderResult } from '../channels/email/provider.ts';
import { findLastTransientBounce } from '../db/bounce-history.ts';
import { takeAudiencePage } from '../db/campaign-audience.ts';
import {
  type ChunkRef,
  type ClaimedRecipient,
  failChunk,
  findSendTerms,
  finishChunk,
  holdChunk,
  reopenChunks,
  type SendTerms,
  skipCancelled,
} from '../db/campaign-ledger.ts';
import { advanceStart, type CampaignStart, finishCampaign, type StartState } from '../db/campaign-lifecycle.ts';
import { createContentCache } from '../db/content-cache.ts';
import { hasListeners } from '../db/event-listeners.ts';
import { getSendRate } from '../db/send-rate.ts';
import { suppressionPads } from '../db/suppressions.ts';
import { inTransaction } from '../db/transaction.ts';
import { judgeAgain } from '../domain/bounce.ts';
import type { ChunkResult } from '../domain/campaign.ts';
import { isTracked } from '../domain/message-tracking.ts';
import { DELIVERY_EXPIRES_MS, nextAttemptAt } from '../domain/retry-schedule.ts';
import { deriveKey } from '../domain/secrets.ts';
import { type LaneDeps, runTurn } from './campaign-lane.ts';
import { createCampaignComposer } from './campaign-message.ts';
import { createCampaignRecorder } from './campaign-recorder.ts';
import type { ActivityDeps } from './deps.ts';
import { createDkimKeys } from './dkim-keys.ts';
import { bounceOutcome, verdictOf } from './email-decision.ts';
import { createEmailSettler } from './email-settler.ts';
import { createHoldGuard } from './hold-guard.ts';
import { createSendWindow } from './send-window.ts';

/** Mails of a process in doubt at a time (performance.md, "The bar and where we stand"). */
const IN_DOUBT_MAX = 200;
/** How long a lane keeps its place: other projects' chunks and jobs wait for one no longer than this. */
const TURN_MS = 60_000;
/** With a send rate the place is mostly waited in, so it is given up sooner. */
const SLOW_TURN_MS = 10_000;
/** Far below the workflow's heartbeat timeout of 10 s. */
const HEARTBEAT_MS = 2_000;
const AUDIENCE_TURN_MS = 20_000;
const SKIP_ROWS = 5_000;
const REOPENED_CHUNKS = 1_000;

export interface ChunkInput extends ChunkRef {
  /** How often the provider has put this chunk off before. */
  deferrals: number;
}

export type AudienceTaken =
  | { outcome: 'taken'; done: boolean; recipients: number; lastSeq: number }
  | { outcome: 'ended' };
export type Finish = { outcome: 'sent' } | { outcome: 'open'; openChunks: number[] } | { outcome: 'ended' };

export type CampaignControlActivities = ReturnType<typeof campaignControlActivities>;
export type CampaignChunkActivities = ReturnType<typeof campaignChunkActivities>;

/** Short steps of a campaign's life. Each is a conditional change, so all may run again. */
export function campaignControlActivities({ db }: Pick<ActivityDeps, 'db'>) {
  return {
    /** Where the campaign stands; moves it on to SENDING when its time has come. */
    async readCampaignStart(start: CampaignStart): Promise<StartState> {
      return inTransaction(db, (trx) => advanceStart(trx, start));
    },

    /** Marks it SENT, unless somebody is left: then says in which chunks. */
    async finishCampaignSend(start: CampaignStart): Promise<Finish> {
      if (await finishCampaign(db, start)) return { outcome: 'sent' };
      if (!(await findSendTerms(db, start))) return { outcome: 'ended' };
      return { outcome: 'open', openChunks: await reopenChunks(db, { ...start, limit: REOPENED_CHUNKS }) };
    },

    /** Skips whom a cancelled start has left. */
    async skipCancelledRecipients(start: CampaignStart): Promise<{ skipped: number }> {
      let skipped = 0;
      for (;;) {
        const rows = await skipCancelled(db, { ...start, limit: SKIP_ROWS });
        skipped += rows;
        if (rows < SKIP_ROWS) return { skipped };
        Context.current().heartbeat();
      }
    },
  };
}

/** The long part: the audience, and the sender of chunks. One a process, which bounds what it has in doubt. */
export function campaignChunkActivities(deps: ActivityDeps & { bulkProvider: EmailProvider; firstRetryMs?: number }) {
  const { config, db, lifecycle, log, bulkProvider } = deps;
  const suppressionKey = deriveKey(config.secretKey, 'suppression');
  const contents = createContentCache(db);
  const dkim = createDkimKeys({ config, db });
  const guard = createHoldGuard({ db, dnsServers: config.dnsServers, log });
  const shared: Omit<LaneDeps, 'sign' | 'judge'> = {
    db,
    provider: bulkProvider,
    window: createSendWindow(IN_DOUBT_MAX),
    recorder: createCampaignRecorder({ db, log, guard, source: bulkProvider.kind }),
    settler: createEmailSettler({
      db,
      guard,
      suppressionKey,
      source: bulkProvider.kind,
      dispatch: (rows) => lifecycle.dispatch(rows),
    }),
    pads: suppressionPads(suppressionKey),
  };

  async function judge(projectId: string, { contactId, email }: ClaimedRecipient, result: ProviderResult) {
    const verdict = verdictOf(result);
    if (!verdict || verdict.retry || result.outcome !== 'refused') return undefined;
    const last = verdict.deadIfAgain ? await findLastTransientBounce(db, { projectId, contactId }) : null;
    const outcome = bounceOutcome(judgeAgain(verdict, last, new Date()), `${result.code} ${result.text}`);
    return guard.named(outcome, email);
  }

  function laneDeps(projectId: string, { senderDomain }: SendTerms): LaneDeps {
    const signs = config.email.dkimSign && senderDomain?.signing;
    return {
      ...shared,
      sign: signs ? (raw) => dkim.sign({ projectId, senderDomain }, raw, true) : undefined,
      judge: (recipient, result) => judge(projectId, recipient, result),
    };
  }

  async function turnOf(chunk: ChunkRef, terms: SendTerms, stop: AbortSignal) {
    const { projectId, campaignId } = chunk;
    const tracked = isTracked(terms.tracking, 'MARKETING');
    const [ready, eventful, ratePerSecond] = await Promise.all([
      contents.get({ projectId, contentId: terms.contentId, tracked }),
      hasListeners(db, projectId, 'email.sent'),
      getSendRate(db, projectId, config.sendRatePerSecond),
    ]);
    const composer = createCampaignComposer({ config, campaignId, ready });
    const untilMs = Date.now() + (ratePerSecond > 0 ? SLOW_TURN_MS : TURN_MS);
    return { chunk, terms, composer, eventful, ratePerSecond, stop, untilMs };
  }

  function retryAfterMs(deferrals: number): number {
    if (deps.firstRetryMs !== undefined) return deps.firstRetryMs;
    const now = new Date();
    const expiresAt = new Date(now.getTime() + DELIVERY_EXPIRES_MS);
    const due = nextAttemptAt({ attempts: deferrals + 1, now, expiresAt, random: Math.random() });
    return (due ?? expiresAt).getTime() - now.getTime();
  }

  const result = (outcome: ChunkResult['outcome'], sent = 0): ChunkResult => ({ outcome, sent, retryAfterMs: 0 });

  /** What a chunk is to do that may not be sent now; undefined when it may. */
  async function refusal(chunk: ChunkRef, terms: SendTerms | undefined): Promise<ChunkResult | undefined> {
    if (!terms) return result('ended');
    if (!terms.senderDomain) await failChunk(db, { ...chunk, reason: 'sender_not_verified' });
    else if (terms.held) {
      await holdChunk(db, chunk);
      return result('held');
    } else return undefined;
    await finishChunk(db, chunk);
    return result('done');
  }

  async function sendTurn(input: ChunkInput, stop: AbortSignal): Promise<ChunkResult> {
    const { deferrals, ...chunk } = input;
    const terms = await findSendTerms(db, chunk);
    const refused = await refusal(chunk, terms);
    if (refused || !terms) return refused ?? result('ended');
    const { outcome, sent } = await runTurn(laneDeps(chunk.projectId, terms), await turnOf(chunk, terms, stop));
    if (outcome === 'stopped') throw new CancelledFailure('the campaign was cancelled, or the worker stops');
    if (outcome === 'deferred') return { outcome, sent, retryAfterMs: retryAfterMs(deferrals) };
    // Cancelled or put on hold meanwhile: the next turn says which.
    return result(outcome === 'blocked' ? 'more' : outcome, sent);
  }

  return {
    /** Takes pages of the audience for some seconds. A page that was taken is not taken again. */
    async takeCampaignAudience(start: CampaignStart): Promise<AudienceTaken> {
      return beating(async (stop) => {
        const until = Date.now() + AUDIENCE_TURN_MS;
        for (;;) {
          const page = await inTransaction(db, (trx) => takeAudiencePage(trx, start));
          if (page.outcome === 'stopped') return { outcome: 'ended' };
          const { done, recipients, lastSeq } = page;
          if (done || Date.now() > until) return { outcome: 'taken', done, recipients, lastSeq };
          if (stop.aborted) throw new CancelledFailure('the worker stops');
        }
      });
    },

    /** One turn at a chunk. Safe to run again: what an earlier attempt left claimed is claimed anew, and its completions no longer count. */
    async sendCampaignChunk(input: ChunkInput): Promise<ChunkResult> {
      return beating((stop) => sendTurn(input, stop));
    },

    /** Gives up whom the provider has put off for a day. */
    async expireCampaignChunk({ deferrals: _, ...chunk }: ChunkInput): Promise<ChunkResult> {
      if (!(await findSendTerms(db, chunk))) return result('ended');
      await failChunk(db, { ...chunk, reason: 'expired' });
      await finishChunk(db, chunk);
      return result('done');
    },
  };
}

/** Runs an activity that heartbeats by the clock: it may wait for a provider or a send rate. */
async function beating<T>(work: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(beat);
  }
}
