import { CancelledFailure } from '@temporalio/activity';
import type { EmailProvider, ProviderResult } from '../../channels/email/provider.ts';
import { type ContentCache, createContentCache } from '../../compute/content-cache.ts';
import type { OpenGate } from '../../db/campaigns/chunk-clock.ts';
import { endChunkTurn, startChunkTurn } from '../../db/campaigns/chunk-turns.ts';
import {
  type ChunkRef,
  failChunk,
  failDeferredRecipients,
  findSendSettings,
  finishChunk,
  holdChunk,
  type SendTerms,
} from '../../db/campaigns/chunks.ts';
import type { ClaimedRecipient } from '../../db/campaigns/claims.ts';
import type { ChunkWait } from '../../db/campaigns/waiting-chunks.ts';
import { createSuppressionPads } from '../../db/contacts/suppressions.ts';
import { hasListeners } from '../../db/events/listeners.ts';
import { chooseLowerRate } from '../../db/sending/send-rate.ts';
import { inTransaction } from '../../db/transaction.ts';
import { pauseCampaign } from '../../engine/campaigns/lifecycle.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import type { ChunkResult } from '../../rules/campaigns/campaign.ts';
import { computeNextChunkState } from '../../rules/campaigns/chunk-state.ts';
import type { Config } from '../../rules/config.ts';
import { isTracked } from '../../rules/content/message-tracking.ts';
import { createRefusedOutcome } from '../../rules/emails/attempt-outcome.ts';
import { DELIVERY_EXPIRES_MS, nextAttemptAt } from '../../rules/emails/retry-schedule.ts';
import { isSimulatorAddress } from '../../rules/emails/simulator.ts';
import { AppError } from '../../rules/errors.ts';
import { RowMissing } from '../../rules/row-missing.ts';
import type { ActivityDeps } from '../deps.ts';
import { getRefusal } from '../emails/decision.ts';
import { createDkimSigners } from '../emails/dkim-keys.ts';
import { InFlightLimit } from '../emails/in-flight-limit.ts';
import { OPEN_ROUTE, type RouteWatch } from '../emails/route-watch.ts';
import { createEmailSettler } from '../emails/settler.ts';
import { createHoldGuard, type HoldGuard } from '../hold-guard.ts';
import { checkGate } from './chunk-gate.ts';
import { type ChunkSenderDeps, sendChunkTurn } from './chunk-sender.ts';
import type { ChunkTurn } from './chunk-turn.ts';
import { createCampaignComposer } from './message.ts';
import { createCampaignRecorder } from './recorder.ts';
import { createSlowContents } from './slow-content.ts';

/**
 * The maximum number of campaign emails in flight in this process. If the process is killed, fewer than this many
 * emails are sent twice, because about 20 of these emails have only their envelope on the wire. A limit of 200 would
 * cost less processor time for an email without TLS and DKIM (docs/decisions.md).
 */
const IN_FLIGHT_MAX = 70;
/**
 * The length of a turn. Chunks and jobs of other projects wait at most this long for the slot that the turn occupies.
 */
const TURN_MS = 60_000;
/**
 * The length of a turn with a send rate. Such turns are short enough that many campaigns get turns, and long enough
 * that the turns are little load for Temporal.
 */
const PACED_TURN_MS = 30_000;

export interface ChunkInput extends ChunkRef {
  /** The number of earlier turns in which the provider deferred this chunk. */
  deferrals: number;
  /** Whether the workflow assumes that the project has a send rate. Absent from workflows of earlier releases. */
  paced?: boolean;
  /**
   * The first row that the chunk's last turn did not reach, and whether emails were deferred (see `ChunkTurnResult`).
   */
  from?: string | undefined;
  putOff?: boolean | undefined;
  /** When the provider first deferred the chunk; null if it never did. Workflows of earlier releases do not pass it. */
  deferredSinceMs?: number | null;
  /**
   * Whether this activity stores in Postgres that the chunk has to wait. Workflows of earlier releases keep this in
   * their memory.
   */
  keeps?: boolean;
}

type SendingDeps = ActivityDeps & { bulkProvider: EmailProvider; firstRetryMs?: number };

/**
 * Returns the send rate of a campaign in emails per second; 0 means no limit. Emails of a test key reach no recipient,
 * so no rate limits them.
 */
export function getCampaignSendRate(
  { sendRatePerSecond }: Config,
  { mode, sendRate }: Pick<SendTerms, 'mode' | 'sendRate'>,
): number {
  return mode === 'test' ? 0 : chooseLowerRate(sendRate, sendRatePerSecond);
}

/**
 * Sends the chunks of campaigns. A process has one instance, because the instance limits the emails in flight of the
 * whole process.
 */
export class CampaignSending {
  private readonly deps: SendingDeps;
  private readonly contents: ContentCache;
  private readonly slowContents = createSlowContents();
  private readonly dkim: ReturnType<typeof createDkimSigners>;
  private readonly guard: HoldGuard;
  private readonly routeWatch: RouteWatch;
  private readonly shared: Omit<ChunkSenderDeps, 'sign' | 'decideRefusal' | 'route'>;

  constructor(deps: SendingDeps) {
    const { config, db, outbox, log, endLog, bulkProvider: provider } = deps;
    const suppressionKey = deriveKey(config.secretKey, 'suppression');
    const source = provider.kind;
    this.deps = deps;
    this.routeWatch = deps.routeWatch ?? OPEN_ROUTE;
    this.contents = createContentCache(deps);
    this.dkim = createDkimSigners({ config, db });
    this.guard = createHoldGuard({ db, dnsServers: config.dnsServers, log });
    const { guard } = this;
    this.shared = {
      db,
      provider,
      inFlight: new InFlightLimit({ max: IN_FLIGHT_MAX }),
      recorder: createCampaignRecorder({ db, log, endLog, guard, source }),
      settler: createEmailSettler({ db, guard, endLog, suppressionKey, source, outbox }),
      pads: createSuppressionPads(suppressionKey),
    };
  }

  /** Runs one turn of a chunk. */
  async sendChunkTurn(input: ChunkInput, cancelled: AbortSignal): Promise<ChunkResult> {
    return this.runBetweenMarks(input, () => this.sendTurn(input, cancelled));
  }

  private async sendTurn(input: ChunkInput, cancelled: AbortSignal): Promise<ChunkResult> {
    const { config, db, stopping } = this.deps;
    const terms = await findSendSettings(db, input);
    const refused = await this.checkMaySend(input, terms);
    if (refused || !terms) return refused ?? createResult('ended');
    const rate = getCampaignSendRate(config, terms);
    const { deferrals, paced = rate > 0, from, putOff } = input;
    // A user has set or removed the project's send rate since the workflow scheduled this turn. The workflow then
    // schedules the chunk on the other task queue: `paced` with a send rate, `bulk` without.
    if (paced !== rate > 0) return { ...createResult('more'), rate, from, putOff };
    const routeWait = await this.waitForRoute(input, terms);
    if (routeWait) return { ...routeWait, rate, from, putOff };
    const clock = await checkGate(db, toChunkRef(input));
    if (!clock) return this.endMissingChunk(input);
    if ('refused' in clock) return { ...clock.refused, rate };
    const stop = AbortSignal.any([cancelled, stopping]);
    const turn = { ...(await this.prepareTurn({ input, rate, terms, clock })), stop };
    const { outcome, sent, ...progress } = await sendChunkTurn(this.getSenderDeps(input.projectId, terms), turn);
    const common = { sent, rate, retryAfterMs: 0, ...(sent > 0 && { fresh: true }), ...progress };
    switch (outcome) {
      case 'stopped':
        // This process is stopping, and the campaign was not cancelled. The campaign continues in another process.
        if (!cancelled.aborted) return { ...common, outcome: 'more' };
        throw new CancelledFailure('the campaign was cancelled');
      case 'deferred':
        return { ...common, outcome, retryAfterMs: this.computeRetryAfterMs(sent > 0 ? 0 : deferrals) };
      case 'too_slow':
        await this.pauseSlowCampaign(input);
        return { ...common, outcome: 'paused' };
      case 'blocked':
        // The campaign was cancelled or paused, the project was put on hold, or a setting changed that the claim relies
        // on. The next turn finds out the reason.
        return { ...common, outcome: 'more' };
      default:
        return { ...common, outcome };
    }
  }

  /**
   * Ends a chunk whose row does not exist, because its campaign was deleted.
   * @throws RowMissing if this start still sends the campaign, because then the chunk must exist too
   */
  private async endMissingChunk(input: ChunkInput): Promise<ChunkResult> {
    if (await findSendSettings(this.deps.db, input)) throw new RowMissing('chunk', `${input.campaignId}/${input.seq}`);
    return createResult('ended');
  }

  /**
   * Marks as failed the emails that the provider has deferred for a day. If the chunk has other unsent emails, the next
   * turn sends them.
   */
  async expire(chunk: ChunkInput): Promise<ChunkResult> {
    const { db } = this.deps;
    return this.runBetweenMarks(chunk, async () => {
      const terms = await findSendSettings(db, chunk);
      const refused = (await this.checkMaySend(chunk, terms)) ?? (terms && (await this.waitForRoute(chunk, terms)));
      if (refused) return refused;
      await failDeferredRecipients(db, chunk);
      return (await finishChunk(db, chunk)) ? createResult('done') : { ...createResult('more'), fresh: true };
    });
  }

  /**
   * Runs a turn between `startChunkTurn` and `endChunkTurn`, which mark the chunk as busy and as free in Postgres.
   * While a chunk is busy, no statistics about its recipients are stored. `endChunkTurn` also stores the wait of a
   * chunk that has to wait. If the process dies during the turn, the chunk stays marked as busy until its next turn. If
   * the process dies after `endChunkTurn`, Temporal runs the turn again, and `startChunkTurn` first clears the stored
   * wait. The workflow does not read chunks that are marked as busy.
   */
  private async runBetweenMarks(input: ChunkInput, turn: () => Promise<ChunkResult>): Promise<ChunkResult> {
    const { db } = this.deps;
    await startChunkTurn(db, input);
    let wait: ChunkWait | undefined;
    try {
      const result = await turn();
      wait = computeWait(input, result);
      return wait ? { ...result, kept: true } : result;
    } finally {
      await endChunkTurn(db, input, wait);
    }
  }

  /**
   * Returns the result of a turn whose chunk may not be sent now. Undefined if the chunk may be sent. If the project is
   * on hold, marks the chunk's emails as HELD. If the sender's domain is no longer verified, marks them as failed.
   */
  private async checkMaySend(chunk: ChunkRef, terms: SendTerms | undefined): Promise<ChunkResult | undefined> {
    const { db } = this.deps;
    if (!terms) return createResult('ended');
    if (terms.paused) return { ...createResult('paused'), fresh: true };
    if (!terms.senderDomain) await failChunk(db, { ...chunk, reason: 'sender_not_verified' });
    else if (terms.held) {
      await holdChunk(db, chunk);
      return { ...createResult('held'), fresh: true };
    } else return undefined;
    await finishChunk(db, chunk);
    return createResult('done');
  }

  private async prepareTurn({
    input,
    rate,
    terms,
    clock,
  }: {
    input: ChunkInput;
    rate: number;
    terms: SendTerms;
    clock: OpenGate;
  }): Promise<Omit<ChunkTurn, 'stop'>> {
    const { from, putOff } = input;
    const chunk = toChunkRef(input);
    const { projectId, campaignId } = chunk;
    const { config, db, compute } = this.deps;
    const tracked = isTracked(terms.tracking, 'MARKETING');
    const work = { projectId, kind: 'campaign.content', bulk: true };
    const [stored, waitsForSent] = await Promise.all([
      this.contents.get({ ...work, contentId: terms.contentId, tracked }),
      hasListeners(db, { projectId, eventName: 'email.sent' }),
    ]);
    const composer = createCampaignComposer({
      config,
      compute,
      campaignId,
      stored,
      zone: terms.timezone,
      returnPathHost: terms.senderDomain?.returnPathHost,
    });
    const turnEndsMs = Date.now() + (rate > 0 ? PACED_TURN_MS : TURN_MS);
    const untilMs = Math.min(turnEndsMs, clock.closesAt?.getTime() ?? turnEndsMs);
    return {
      chunk,
      terms,
      clock,
      composer,
      slow: this.slowContents.of(campaignId),
      hasListeners: waitsForSent,
      ratePerSecond: rate,
      untilMs,
      from,
      putOff,
    };
  }

  /**
   * Returns the result of a turn whose chunk has to wait because its route is paused. The wait does not count as an
   * attempt. Undefined if the route accepts email.
   */
  private async waitForRoute({ projectId }: ChunkRef, { mode }: SendTerms): Promise<ChunkResult | undefined> {
    const until = mode === 'live' ? await this.routeWatch.readPauseEnd(projectId) : undefined;
    if (!until) return undefined;
    const retryAfterMs = Math.max(0, until.getTime() - Date.now());
    return { ...createResult('paced'), retryAfterMs, fresh: true, isRoutePaused: true };
  }

  private createRoute(projectId: string, { senderDomain }: SendTerms): ChunkSenderDeps['route'] {
    const { returnPathDomain } = this.deps.config.email;
    const senderHost = returnPathDomain ?? senderDomain?.returnPathHost ?? senderDomain?.domain ?? '';
    return {
      onResult: ({ id, email }, result) => this.routeWatch.onResult({ id, projectId, to: email, senderHost }, result),
      isPaused: () => this.routeWatch.isPaused(projectId),
      retryAfterMs: async () => {
        const until = await this.routeWatch.readPauseEnd(projectId);
        return Math.max(0, (until?.getTime() ?? 0) - Date.now());
      },
    };
  }

  private getSenderDeps(projectId: string, terms: SendTerms): ChunkSenderDeps {
    const { senderDomain } = terms;
    const isSigned = this.deps.config.email.dkimSign && senderDomain?.signing;
    return {
      ...this.shared,
      sign: isSigned ? (raw) => this.dkim.sign({ projectId, senderDomain }, raw, true) : undefined,
      route: this.createRoute(projectId, terms),
      decideRefusal: (recipient, result) => this.decideRefusal(recipient, result),
    };
  }

  private async decideRefusal({ email, attempts }: ClaimedRecipient, result: ProviderResult) {
    const refusal = getRefusal(result);
    if (!refusal || refusal.retry || result.outcome !== 'refused') return undefined;
    if (!isSimulatorAddress(email) && this.routeWatch.shouldWait(refusal, attempts)) return undefined;
    return this.guard.nameMailboxProvider(createRefusedOutcome(refusal, `${result.code} ${result.text}`), email);
  }

  private computeRetryAfterMs(deferrals: number): number {
    if (this.deps.firstRetryMs !== undefined) return this.deps.firstRetryMs;
    const now = new Date();
    const expiresAt = new Date(now.getTime() + DELIVERY_EXPIRES_MS);
    const due = nextAttemptAt({ attempts: deferrals + 1, now, expiresAt, random: Math.random() });
    return (due ?? expiresAt).getTime() - now.getTime();
  }

  /**
   * Pauses a campaign whose content takes too long to compose. If a user has cancelled or paused the campaign in the
   * meantime, does nothing.
   */
  private async pauseSlowCampaign({ projectId, campaignId, sendNo }: ChunkInput): Promise<void> {
    const { db, outbox, log } = this.deps;
    const pause = { projectId, id: campaignId, sendNo, reason: 'template_timeout' as const };
    const paused = await inTransaction(db, (trx) => pauseCampaign(trx, pause)).catch((error: unknown) => {
      if (error instanceof AppError) return undefined;
      throw error;
    });
    this.slowContents.forget(campaignId);
    outbox.wake(paused?.outbox ?? []);
    log.warn({ projectId, campaignId }, 'a campaign is paused: its content takes too long to compose');
  }
}

/** Picks the fields of the chunk from the input of a turn. */
function toChunkRef({ projectId, campaignId, sendNo, seq }: ChunkInput): ChunkRef {
  return { projectId, campaignId, sendNo, seq };
}

/** The outcomes after which a chunk waits in Postgres. */
const WAITING_OUTCOMES: readonly ChunkResult['outcome'][] = ['deferred', 'shut', 'held'];

/**
 * Returns the wait of a chunk after a turn. Undefined if the chunk does not wait, or if the workflow keeps the wait in
 * its memory.
 */
function computeWait(input: ChunkInput, result: ChunkResult): ChunkWait | undefined {
  if (input.keeps !== true || !WAITING_OUTCOMES.includes(result.outcome)) return undefined;
  const { seq, deferrals, deferredSinceMs = null, from, putOff } = input;
  const before = { seq, dueAtMs: 0, deferrals, deferredSinceMs, from, putOff };
  const chunk = computeNextChunkState(before, result, { nowMs: Date.now(), clock: result.clock });
  return chunk && { chunk, clock: result.outcome === 'shut' ? (result.clock ?? null) : null };
}

function createResult(outcome: ChunkResult['outcome']): ChunkResult {
  return { outcome, sent: 0, retryAfterMs: 0 };
}
