import { CancelledFailure, Context } from '@temporalio/activity';
import type { EmailProvider, ProviderResult } from '../channels/email/provider.ts';
import { createContentCache } from '../compute/content-cache.ts';
import { findLastTransientBounce } from '../db/bounce-history.ts';
import { openMonthOf, PAGE_CONTACTS, takeAudiencePage } from '../db/campaign-audience.ts';
import {
  expireChunk,
  failChunk,
  findSendTerms,
  finishChunk,
  holdChunk,
  reopenChunks,
  type SendTerms,
  skipCancelled,
} from '../db/campaign-chunks.ts';
import type { ChunkRef, ClaimedRecipient } from '../db/campaign-ledger.ts';
import {
  advanceStart,
  type CampaignStart,
  finishCampaign,
  pauseCampaign,
  type StartState,
} from '../db/campaign-lifecycle.ts';
import { hasListeners } from '../db/event-listeners.ts';
import { lowerRate } from '../db/send-rate.ts';
import { suppressionPads } from '../db/suppressions.ts';
import { inTransaction } from '../db/transaction.ts';
import { judgeAgain } from '../domain/bounce.ts';
import type { ChunkResult } from '../domain/campaign.ts';
import type { Config } from '../domain/config.ts';
import { AppError } from '../domain/errors.ts';
import { isTracked } from '../domain/message-tracking.ts';
import { DELIVERY_EXPIRES_MS, nextAttemptAt } from '../domain/retry-schedule.ts';
import { deriveKey } from '../domain/secrets.ts';
import { createCampaignComposer } from './campaign-message.ts';
import { createCampaignRecorder } from './campaign-recorder.ts';
import { type ChunkSenderDeps, sendChunk } from './chunk-sender.ts';
import type { ActivityDeps } from './deps.ts';
import { createDkimKeys } from './dkim-keys.ts';
import { bounceOutcome, verdictOf } from './email-decision.ts';
import { createEmailSettler } from './email-settler.ts';
import { withHeartbeats } from './heartbeats.ts';
import { createHoldGuard } from './hold-guard.ts';
import { InFlightLimit } from './in-flight-limit.ts';
import { createSlowContents } from './slow-content.ts';

/** 200 loses nothing of the speed; without a limit a slow commit piles up tens of thousands. */
const IN_FLIGHT_MAX = 200;
/** How long a lane keeps its place: other projects' chunks and jobs wait for one no longer than this. */
const TURN_MS = 60_000;
/** With a send rate: short enough that many campaigns have their turns, and so long that Temporal has nothing to do with the rate. */
const PACED_TURN_MS = 30_000;
/** Far below the workflow's heartbeat timeout of 10 s. */
const HEARTBEAT_MS = 2_000;
const AUDIENCE_TURN_MS = 20_000;
/** The first recipients, for whom the ledger is written in no time; the others come while these are sent. */
const FIRST_PAGE_CONTACTS = 500;
/** How much of the audience is taken before the lanes hear of it. */
const PAGES_AT_A_TIME_MAX = 16;
const SKIP_ROWS = 5_000;
const REOPENED_CHUNKS = 1_000;

export interface ChunkInput extends ChunkRef {
  /** How often the provider has put this chunk off before. */
  deferrals: number;
  /** Whether the workflow takes the project for one with a send rate; absent from workflows of earlier versions. */
  paced?: boolean;
  /** Where the chunk's last turn ended, and whether it was put off in part: see `TurnResult`. */
  from?: string | undefined;
  putOff?: boolean | undefined;
}

export interface AudienceInput extends CampaignStart {
  /** How many times the audience was asked for before, in this run of the workflow; absent from workflows of earlier versions. */
  round?: number;
}

/** `rate`: mails a second, 0 for no limit. */
export type CampaignStanding =
  | Exclude<StartState, { phase: 'sending' | 'paused' }>
  | { phase: 'sending' | 'paused'; rate: number };

export type AudienceTaken =
  /** `sendNow`: lanes may begin with what is there, while the rest is taken. */
  { outcome: 'taken'; done: boolean; recipients: number; lastSeq: number; sendNow?: boolean } | { outcome: 'ended' };
export type Finish = { outcome: 'sent' } | { outcome: 'open'; openChunks: number[] } | { outcome: 'ended' };

export type CampaignControlActivities = ReturnType<typeof campaignControlActivities>;
export type CampaignChunkActivities = ReturnType<typeof campaignChunkActivities>;

/** Short steps of a campaign's life. Each is a conditional change, so all may run again. */
export function campaignControlActivities({ db, config }: Pick<ActivityDeps, 'db' | 'config'>) {
  return {
    /** Where the campaign stands; moves it on to SENDING when its time has come. */
    async readCampaignStart(start: CampaignStart): Promise<CampaignStanding> {
      const state = await inTransaction(db, (trx) => advanceStart(trx, start));
      return 'mode' in state ? { phase: state.phase, rate: rateOf(config, state) } : state;
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

/** Mails of a test key reach nobody, so nothing limits them. */
function rateOf({ sendRatePerSecond }: Config, { mode, sendRate }: Pick<SendTerms, 'mode' | 'sendRate'>): number {
  return mode === 'test' ? 0 : lowerRate(sendRate, sendRatePerSecond);
}

/** The long part: the audience, and the sender of chunks. One a process, which bounds what it has in doubt. */
export function campaignChunkActivities(deps: ActivityDeps & { bulkProvider: EmailProvider; firstRetryMs?: number }) {
  const { config, db, compute, lifecycle, log, bulkProvider, stopping } = deps;
  const suppressionKey = deriveKey(config.secretKey, 'suppression');
  const contents = createContentCache(deps);
  const slowContents = createSlowContents();
  const dkim = createDkimKeys({ config, db });
  const guard = createHoldGuard({ db, dnsServers: config.dnsServers, log });
  const shared: Omit<ChunkSenderDeps, 'sign' | 'judge'> = {
    db,
    provider: bulkProvider,
    inFlight: new InFlightLimit({ max: IN_FLIGHT_MAX }),
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

  function senderDeps(projectId: string, { senderDomain }: SendTerms): ChunkSenderDeps {
    const signs = config.email.dkimSign && senderDomain?.signing;
    return {
      ...shared,
      sign: signs ? (raw) => dkim.sign({ projectId, senderDomain }, raw, true) : undefined,
      judge: (recipient, result) => judge(projectId, recipient, result),
    };
  }

  async function turnOf({ input, rate, terms }: { input: ChunkInput; rate: number; terms: SendTerms }) {
    const { deferrals: _, paced: __, from, putOff, ...chunk } = input;
    const { projectId, campaignId } = chunk;
    const tracked = isTracked(terms.tracking, 'MARKETING');
    const work = { projectId, kind: 'campaign.content', bulk: true };
    const [stored, eventful] = await Promise.all([
      contents.get({ ...work, contentId: terms.contentId, tracked }),
      hasListeners(db, projectId, 'email.sent'),
    ]);
    const composer = createCampaignComposer({ config, compute, campaignId, stored });
    const untilMs = Date.now() + (rate > 0 ? PACED_TURN_MS : TURN_MS);
    return {
      chunk,
      terms,
      composer,
      slow: slowContents.of(campaignId),
      eventful,
      ratePerSecond: rate,
      untilMs,
      from,
      putOff,
    };
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
    if (terms.paused) return { ...result('paused'), fresh: true };
    if (!terms.senderDomain) await failChunk(db, { ...chunk, reason: 'sender_not_verified' });
    else if (terms.held) {
      await holdChunk(db, chunk);
      return { ...result('held'), fresh: true };
    } else return undefined;
    await finishChunk(db, chunk);
    return result('done');
  }

  /** Whoever has cancelled or paused it meanwhile was first, and nothing is to be done. */
  async function pauseHopeless({ projectId, campaignId, sendNo }: ChunkInput): Promise<void> {
    const pause = { projectId, id: campaignId, sendNo, reason: 'template_timeout' as const };
    const paused = await inTransaction(db, (trx) => pauseCampaign(trx, pause)).catch((error: unknown) => {
      if (error instanceof AppError) return undefined;
      throw error;
    });
    slowContents.forget(campaignId);
    lifecycle.dispatch(paused?.outbox ?? []);
    log.warn({ projectId, campaignId }, 'a campaign is paused: its content runs out of time');
  }

  async function sendTurn(input: ChunkInput, cancelled: AbortSignal): Promise<ChunkResult> {
    const terms = await findSendTerms(db, input);
    const refused = await refusal(input, terms);
    if (refused || !terms) return refused ?? result('ended');
    const rate = rateOf(config, terms);
    const { deferrals, paced = rate > 0, from, putOff } = input;
    // Its rate was set or lifted: the workflow sends the chunk to the queue for it.
    if (paced !== rate > 0) return { ...result('more'), rate, from, putOff };
    const stop = AbortSignal.any([cancelled, stopping]);
    const turn = { ...(await turnOf({ input, rate, terms })), stop };
    const { outcome, sent, ...round } = await sendChunk(senderDeps(input.projectId, terms), turn);
    const common = { sent, rate, retryAfterMs: 0, ...(sent > 0 && { fresh: true }), ...round };
    switch (outcome) {
      case 'stopped':
        // The process ends, the campaign goes on in another one.
        if (!cancelled.aborted) return { ...common, outcome: 'more' };
        throw new CancelledFailure('the campaign was cancelled');
      case 'deferred':
        return { ...common, outcome, retryAfterMs: retryAfterMs(sent > 0 ? 0 : deferrals) };
      case 'hopeless':
        await pauseHopeless(input);
        return { ...common, outcome: 'paused' };
      case 'blocked':
        // Cancelled, paused, put on hold, or at another rate: the next turn says which.
        return { ...common, outcome: 'more' };
      default:
        return { ...common, outcome };
    }
  }

  return {
    /** Takes pages of the audience: a small one first, then ever more. A page that was taken is not taken again. */
    async takeCampaignAudience({ round, ...start }: AudienceInput): Promise<AudienceTaken> {
      return withHeartbeats(async (cancelled) => {
        const until = Date.now() + AUDIENCE_TURN_MS;
        const pages = round === undefined ? Number.POSITIVE_INFINITY : Math.min(PAGES_AT_A_TIME_MAX, 2 ** round / 2);
        const contacts = round === 0 ? FIRST_PAGE_CONTACTS : PAGE_CONTACTS;
        await openMonthOf(db, start);
        for (let taken = 1; ; taken++) {
          const page = await inTransaction(db, (trx) => takeAudiencePage(trx, { ...start, contacts }));
          if (page.outcome === 'stopped') return { outcome: 'ended' };
          const { done, recipients, lastSeq } = page;
          const enough = taken >= pages || Date.now() > until || stopping.aborted;
          if (done || enough) return { outcome: 'taken', done, recipients, lastSeq, sendNow: round !== undefined };
          if (cancelled.aborted) throw new CancelledFailure('the campaign was cancelled');
        }
      }, HEARTBEAT_MS);
    },

    /** One turn at a chunk. Safe to run again: what an earlier attempt left claimed is claimed anew, and its completions no longer count. */
    async sendCampaignChunk(input: ChunkInput): Promise<ChunkResult> {
      return withHeartbeats((cancelled) => sendTurn(input, cancelled), HEARTBEAT_MS);
    },

    /** Gives up whom the provider has put off for a day; whoever else the chunk has left is sent to. */
    async expireCampaignChunk(chunk: ChunkInput): Promise<ChunkResult> {
      const refused = await refusal(chunk, await findSendTerms(db, chunk));
      if (refused) return refused;
      await expireChunk(db, chunk);
      return (await finishChunk(db, chunk)) ? result('done') : { ...result('more'), fresh: true };
    },
  };
}
