import type { EmailProvider, OutgoingEmail, ProviderResult } from '../channels/email/provider.ts';
import { OverBudget } from '../compute/compute.ts';
import {
  type ChunkRef,
  type ClaimedRecipient,
  type ClaimRequest,
  claimRange,
  finishChunk,
  type LedgerRange,
  listRanges,
  nextClaim,
  releaseClaimed,
  type SendTerms,
  skipRefused,
} from '../db/campaign-ledger.ts';
import type { Db } from '../db/connection.ts';
import type { ClaimedEmail } from '../db/email-ledger.ts';
import { isSessionStage } from '../domain/bounce.ts';
import { tookTooMuch } from '../domain/bounded.ts';
import type { EmailOutcome } from '../domain/email-outcome.ts';
import type { KeyPads } from '../domain/suppression.ts';
import { TemplateError } from '../domain/template-error.ts';
import type { CampaignComposer } from './campaign-message.ts';
import type { CampaignRecorder, RecordOwner } from './campaign-recorder.ts';
import { type CampaignTokens, createCampaignTokens } from './campaign-tokens.ts';
import { failed } from './email-decision.ts';
import type { EmailSettler } from './email-settler.ts';
import type { InFlightLimit } from './in-flight-limit.ts';
import type { SlowContent } from './slow-content.ts';

/** Rows of the smallest claim; a claim is as many of these stretches as leave in about half a second. */
const STRETCH_ROWS = 100;
const STRETCHES_MAX = 5;
const COSTLY_STRETCH_ROWS = 5;
const CLAIM_AHEAD_MS = 500;
/** Claimed rows that are left when the next claim is made: the time of one statement at full speed. */
const AHEAD_ROWS = 250;
/** So many answers in a row that are not about the message: the provider is away, and each further claim would cost an attempt. */
const OUTAGE_ANSWERS = 20;

/** Who is over the project's budget comes again after this at the soonest: each turn costs Temporal something. */
const OVER_BUDGET_MS = 2_000;

/** What all lanes of a process share. */
export interface LaneDeps {
  db: Db;
  provider: EmailProvider;
  inFlight: InFlightLimit;
  recorder: CampaignRecorder;
  settler: EmailSettler;
  pads: KeyPads;
  /** Undefined where the message goes out unsigned. */
  sign: ((raw: string | Buffer) => Promise<string | Buffer>) | undefined;
  /** What a refusal for good means for this recipient. Undefined: put it off. */
  judge(recipient: ClaimedRecipient, result: ProviderResult): Promise<EmailOutcome | undefined>;
}

export interface Turn {
  chunk: ChunkRef;
  terms: SendTerms;
  composer: CampaignComposer;
  slow: SlowContent;
  /** Something waits for `email.sent`, so each one is recorded with all that follows from it. The recorder notices when that begins later. */
  eventful: boolean;
  /** Mails a second over all workers; 0 is no limit. */
  ratePerSecond: number;
  /** Aborted when the campaign is cancelled or the worker stops. */
  stop: AbortSignal;
  /** The id of the row at which an earlier turn of this round ended. */
  from?: string | undefined;
  /** The provider has put off mails of this round, which are before `from`. */
  putOff?: boolean | undefined;
  /** Milliseconds since 1970: no claim after it, and what the provider has not begun with is taken back. */
  untilMs: number;
}

/**
 * `blocked`: a claim found nothing to take, because the campaign was cancelled, the project put on hold, or its send rate changed. `paced`:
 * the send rate, or what the project may compute, has
 * no room now. `hopeless`: the content runs out of time for everybody. With `from` the round goes on at this row; without it the next turn
 * begins a round.
 */
export interface TurnResult {
  outcome: 'done' | 'more' | 'deferred' | 'blocked' | 'stopped' | 'paced' | 'hopeless';
  sent: number;
  from?: string;
  putOff?: boolean;
  /** With `paced`. */
  retryAfterMs?: number;
}

/**
 * One turn at a chunk: claims its rows stretch by stretch, keeps some ahead, hands them to the provider as the window allows, and returns
 * when all it has claimed is recorded or given back. At most one attempt's completions count for a row; the one that finds it has lost
 * rows stops at once.
 */
export async function runTurn(deps: LaneDeps, turn: Turn): Promise<TurnResult> {
  return new Lane(deps, turn, await nextClaim(deps.db)).run();
}

class Lane implements RecordOwner {
  private readonly deps: LaneDeps;
  private readonly turn: Turn;
  private readonly claim: number;
  readonly projectId: string;
  /** As it was when the turn began, or as the recorder has found since. */
  private eventful: boolean;
  private sent = 0;
  private deferred = 0;
  private inDoubt = 0;
  private outage = 0;
  private fenced = false;
  private failure: Error | null = null;
  private blocked = false;
  /** Milliseconds until the project may compute again. */
  private overBudgetMs: number | undefined;
  private stretches = 1;
  private readonly unsent: string[] = [];
  /** Undefined where there is no limit. */
  private readonly tokens: CampaignTokens | undefined;
  /** What is not claimed yet, in order. */
  private ranges: LedgerRange[] = [];
  /** What the provider has been given and has not answered, with the way to take it back. */
  private readonly handedOver = new Map<string, () => boolean>();
  private drained: (() => void) | undefined;

  constructor(deps: LaneDeps, turn: Turn, claim: number) {
    this.deps = deps;
    this.turn = turn;
    this.claim = claim;
    this.projectId = turn.chunk.projectId;
    this.eventful = turn.eventful;
    const { chunk, ratePerSecond, stop, untilMs } = turn;
    if (ratePerSecond > 0)
      this.tokens = createCampaignTokens({
        ...{ db: deps.db, projectId: chunk.projectId, ratePerSecond, stop, untilMs },
        halted: () => this.halted,
      });
  }

  async run(): Promise<TurnResult> {
    const { db } = this.deps;
    const { chunk, from } = this.turn;
    this.ranges = await listRanges(db, { ...chunk, from, size: this.tokens ? 1 : this.stretchRows });
    const stopped = () => this.withdraw();
    this.turn.stop.addEventListener('abort', stopped);
    const timer = setTimeout(stopped, Math.max(0, this.turn.untilMs - Date.now()));
    try {
      await (this.tokens ? this.sendPaced(this.tokens) : this.sendRanges());
    } finally {
      clearTimeout(timer);
      this.turn.stop.removeEventListener('abort', stopped);
      await this.drain();
      await releaseClaimed(db, { ids: this.unsent, claim: this.claim });
      await this.tokens?.giveBack(this.unsent.length);
    }
    if (this.failure) throw this.failure;
    return this.result();
  }

  /** A mail is out of doubt: recorded, or not ours any more. */
  recorded(mails: number): void {
    this.inDoubt -= mails;
    this.deps.inFlight.give(this.projectId, mails);
    if (this.inDoubt === 0) this.drained?.();
  }

  wanted(recipient: ClaimedRecipient, providerId: string | null): void {
    this.eventful = true;
    this.settle(recipient, { kind: 'sent', providerMessageId: providerId, subject: '' });
  }

  lost(error: Error | null): void {
    this.fenced = true;
    this.failure ??= error;
    this.withdraw();
  }

  /** No further mail is taken. */
  private get halted(): boolean {
    const { stop, untilMs, slow } = this.turn;
    if (this.overBudgetMs !== undefined || slow.hopeless) return true;
    return this.fenced || this.blocked || stop.aborted || this.outage >= OUTAGE_ANSWERS || Date.now() >= untilMs;
  }

  private async result(): Promise<TurnResult> {
    const { sent } = this;
    if (await finishChunk(this.deps.db, this.turn.chunk)) return { outcome: 'done', sent };
    const putOff = this.deferred > 0 || this.turn.putOff === true;
    const from = this.rest();
    const round = { sent, ...(from !== undefined && { from, putOff }) };
    if (this.turn.stop.aborted) return { outcome: 'stopped', ...round };
    if (this.blocked) return { outcome: 'blocked', ...round };
    if (this.outage >= OUTAGE_ANSWERS) return { outcome: 'deferred', sent };
    if (this.turn.slow.hopeless) return { outcome: 'hopeless', ...round };
    const retryAfterMs = this.overBudgetMs ?? this.tokens?.retryAfterMs;
    if (retryAfterMs !== undefined) return { outcome: 'paced', retryAfterMs, ...round };
    // Rows were another attempt's.
    if (this.fenced) return { outcome: 'more', sent };
    // Not even an answer: the provider hangs.
    if (sent === 0 && this.deferred === 0) return { outcome: 'deferred', sent };
    // The turn is over.
    if (from !== undefined) return { outcome: 'more', ...round };
    return { outcome: putOff ? 'deferred' : 'more', sent };
  }

  /** The first row that this round has not come to; undefined when it has come to all, or does not know. */
  private rest(): string | undefined {
    if (this.fenced) return undefined;
    const ids = this.ranges[0] ? [...this.unsent, this.ranges[0].first] : this.unsent;
    return ids.reduce<string | undefined>((first, id) => (first === undefined || id < first ? id : first), undefined);
  }

  /** Of costly content few: consent is decided at the claim, and a message may take half a second. */
  private get stretchRows(): number {
    return this.turn.composer.costly ? COSTLY_STRETCH_ROWS : STRETCH_ROWS;
  }

  private async sendRanges(): Promise<void> {
    const aheadRows = this.turn.composer.costly ? 0 : AHEAD_ROWS;
    let next = this.claimNext();
    while (next) {
      const startedMs = Date.now();
      const rows = await next;
      next = undefined;
      for (let at = 0; at < rows.length; at++) {
        if (!next && rows.length - at <= aheadRows) next = this.claimNext();
        const row = rows[at];
        const taken = row && this.take(row);
        if (taken) await taken;
      }
      this.adapt(rows.length, Date.now() - startedMs);
      next ??= this.claimNext();
    }
  }

  /** Claims what the send rate has room for, and no more. */
  private async sendPaced(tokens: CampaignTokens): Promise<void> {
    while (this.ranges.length > 0 && !this.halted) {
      const granted = await tokens.take(this.ranges.length);
      if (granted === 0) return;
      const rows = this.halted ? [] : await this.claimRows(joined(this.ranges.splice(0, granted)));
      if (rows.length < granted) await tokens.giveBack(granted - rows.length);
      for (const row of rows) await this.take(row);
    }
  }

  /** The next claim, under way; undefined when there is none to make. A failure is thrown where it is awaited. */
  private claimNext(): Promise<ClaimedRecipient[]> | undefined {
    if (this.ranges.length === 0 || this.halted) return undefined;
    const claimed = this.claimRows(joined(this.ranges.splice(0, this.stretches)));
    claimed.catch(() => undefined);
    return claimed;
  }

  private async claimRows(range: LedgerRange): Promise<ClaimedRecipient[]> {
    const { db, pads } = this.deps;
    const { chunk, composer, terms } = this.turn;
    const request: ClaimRequest = {
      ...chunk,
      claim: this.claim,
      range,
      dataKeys: composer.dataKeys,
      suppressionPads: pads,
      sendRate: terms.sendRate,
    };
    const rows = await claimRange(db, request);
    if (rows.length === range.rows) return rows;
    const skipped = await skipRefused(db, request);
    if (rows.length > 0 || skipped > 0) return rows;
    this.blocked = true;
    this.ranges.unshift(range);
    return rows;
  }

  private adapt(rows: number, tookMs: number): void {
    const leaveInTime = (rows / Math.max(1, tookMs)) * CLAIM_AHEAD_MS;
    const max = (STRETCHES_MAX * STRETCH_ROWS) / this.stretchRows;
    this.stretches = Math.max(1, Math.min(max, Math.round(leaveInTime / this.stretchRows)));
  }

  /** A promise only where a place has to be waited for, because most mails need not wait. */
  private take(row: ClaimedRecipient): Promise<void> | undefined {
    if (this.halted) {
      this.unsent.push(row.id);
      return undefined;
    }
    if (this.turn.composer.costly) return this.takeCostly(row);
    const place = this.deps.inFlight.take(this.projectId);
    if (place) return place.then(() => this.takeAfterWait(row, undefined));
    this.inDoubt += 1;
    this.submit(row, undefined);
    return undefined;
  }

  private async takeCostly(row: ClaimedRecipient): Promise<void> {
    const made = await this.composed(row);
    if (made === null) {
      this.unsent.push(row.id);
      return;
    }
    const place = this.deps.inFlight.take(this.projectId);
    if (place) await place;
    this.takeAfterWait(row, made);
  }

  /** There is a place now. */
  private takeAfterWait(row: ClaimedRecipient, made: (() => OutgoingEmail) | undefined): void {
    if (this.halted) {
      this.deps.inFlight.give(this.projectId, 1);
      this.unsent.push(row.id);
      return;
    }
    this.inDoubt += 1;
    this.submit(row, made);
  }

  /** Before the message has a place in the window: who waits holds nothing. Null when it cannot be made in this turn. */
  private async composed(row: ClaimedRecipient): Promise<(() => OutgoingEmail) | null> {
    const { composer, slow } = this.turn;
    try {
      const message = await composer.composeCostly(row);
      slow.inTime();
      return this.halted ? null : () => message;
    } catch (error) {
      if (error instanceof TemplateError) {
        if (tookTooMuch(error)) slow.outOfTime();
        else slow.inTime();
        return () => {
          throw error;
        };
      }
      if (error instanceof OverBudget) {
        this.overBudgetMs = Math.max(error.retryAfterMs, OVER_BUDGET_MS);
        return null;
      }
      this.unsent.push(row.id);
      throw error;
    }
  }

  private submit(row: ClaimedRecipient, made: (() => OutgoingEmail) | undefined): void {
    const { sign } = this.deps;
    const onResult = (result: ProviderResult) => this.answered(row, result);
    try {
      const message = made ? made() : this.turn.composer.compose(row);
      if (this.turn.terms.mode === 'test') queueMicrotask(() => onResult(NOT_SENT));
      else if (!sign) this.handOver(message, onResult);
      else
        sign(message.raw).then(
          (raw) => this.handOverSigned(row, { ...message, raw }, onResult),
          (error: Error) => onResult({ outcome: 'unsent', error: `DKIM: ${error.message}` }),
        );
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      this.settle(row, failed('template_error', error.message));
    }
  }

  /** To sign takes its time: what is signed when the lane has to stop stays here. */
  private handOverSigned(
    row: ClaimedRecipient,
    message: OutgoingEmail,
    onResult: (result: ProviderResult) => void,
  ): void {
    if (!this.halted) {
      this.handOver(message, onResult);
      return;
    }
    this.unsent.push(row.id);
    this.recorded(1);
  }

  private handOver(message: OutgoingEmail, onResult: (result: ProviderResult) => void): void {
    this.handedOver.set(message.id, this.deps.provider.submit(message, onResult));
  }

  /** Takes back what is not on its way yet: a slow or absent provider must not keep a lane that has to stop. */
  private withdraw(): void {
    for (const [id, takeBack] of this.handedOver) {
      if (!takeBack()) continue;
      this.handedOver.delete(id);
      this.unsent.push(id);
      this.recorded(1);
    }
  }

  private answered(row: ClaimedRecipient, result: ProviderResult): void {
    const { recorder } = this.deps;
    const { id } = row;
    this.handedOver.delete(id);
    if (result.outcome === 'accepted') {
      this.outage = 0;
      this.sent += 1;
      const { providerMessageId: providerId } = result;
      if (this.eventful) this.settle(row, { kind: 'sent', providerMessageId: providerId, subject: '' });
      else recorder.sent(this, { recipient: row, claim: this.claim, providerId });
      return;
    }
    const aboutMessage = result.outcome === 'refused' && !isSessionStage(result.stage);
    this.outage = aboutMessage ? 0 : this.outage + 1;
    if (this.outage >= OUTAGE_ANSWERS) this.withdraw();
    if (aboutMessage && result.permanent) void this.judged(row, result);
    else this.putOff(row, result);
  }

  private async judged(row: ClaimedRecipient, result: ProviderResult): Promise<void> {
    try {
      const outcome = await this.deps.judge(row, result);
      if (outcome) this.settle(row, outcome);
      else this.putOff(row, result);
    } catch (error) {
      this.recorded(1);
      this.lost(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private putOff(recipient: ClaimedRecipient, result: ProviderResult): void {
    this.deferred += 1;
    this.deps.recorder.deferred(this, { recipient, claim: this.claim, error: wordsOf(result) });
  }

  /** Records an ending with all that follows from it: bounce events, suppression, whoever waits for `email.sent`. */
  private settle(row: ClaimedRecipient, outcome: EmailOutcome): void {
    const event = outcome.kind === 'failed' ? null : this.turn.composer.eventOf(row);
    const email = this.asEmail(row);
    void this.deps.settler.settle({ email, outcome, event }).then(
      ({ recorded }) => {
        this.recorded(1);
        if (!recorded) this.lost(null);
      },
      (error: Error) => {
        this.recorded(1);
        this.lost(error);
      },
    );
  }

  private asEmail(row: ClaimedRecipient): ClaimedEmail {
    const { chunk, terms } = this.turn;
    const { contactId, email, untrustedKeys } = row;
    return {
      id: row.id,
      projectId: chunk.projectId,
      contentId: terms.contentId,
      campaignId: chunk.campaignId,
      executionId: null,
      visit: null,
      sourceType: 'CAMPAIGN',
      mode: terms.mode,
      to: { email, name: null },
      variables: null,
      options: {},
      claim: this.claim,
      attempts: row.attempts,
      createdAt: new Date(),
      contact: { id: contactId, email, subscribed: true, data: {}, untrustedKeys },
      contentType: 'MARKETING',
      project: { tracking: terms.tracking, held: terms.held, monthlyEmailLimit: null },
      senderDomain: terms.senderDomain,
      suppressedBy: null,
    };
  }

  private async drain(): Promise<void> {
    while (this.inDoubt > 0) {
      this.deps.recorder.flush();
      await new Promise<void>((resolve) => {
        this.drained = resolve;
      });
    }
  }
}

/** The answer to a mail of a test key: rendered and recorded, and handed to nobody (decisions §2). */
const NOT_SENT: ProviderResult = { outcome: 'accepted', providerMessageId: null, reply: '' };

function wordsOf(result: ProviderResult): string {
  if (result.outcome === 'refused') return `${result.code} ${result.text}`;
  return result.outcome === 'accepted' ? '' : result.error;
}

function joined(parts: LedgerRange[]): LedgerRange {
  const first = parts[0];
  const last = parts.at(-1);
  if (!first || !last) throw new Error('a claim needs at least one stretch');
  return { first: first.first, last: last.last, rows: parts.reduce((sum, part) => sum + part.rows, 0) };
}
