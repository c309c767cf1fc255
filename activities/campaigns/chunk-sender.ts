import type { EmailProvider, OutgoingEmail, ProviderResult } from '../../channels/email/provider.ts';
import { OverBudget } from '../../compute/compute.ts';
import { finishChunk } from '../../db/campaigns/chunks.ts';
import { type ClaimedRecipient, nextClaimNumber, releaseClaims } from '../../db/campaigns/claims.ts';
import type { Db } from '../../db/connection.ts';
import { TemplateError } from '../../rules/content/template-error.ts';
import { failWith, type RecordedOutcome } from '../../rules/emails/attempt-outcome.ts';
import { isSessionStage } from '../../rules/emails/refusal.ts';
import { isSimulatorAddress } from '../../rules/emails/simulator.ts';
import type { KeyPads } from '../../rules/emails/suppression.ts';
import { exceededLimit } from '../../rules/time-limit.ts';
import type { InFlightLimit } from '../emails/in-flight-limit.ts';
import type { EmailSettler } from '../emails/settler.ts';
import { ChunkClaims } from './chunk-claims.ts';
import { unfinishedResult } from './chunk-result.ts';
import { type ChunkTurn, type ChunkTurnResult, toAttemptedEmail } from './chunk-turn.ts';
import type { CampaignRecorder, RecordOwner } from './recorder.ts';
import { SubmittedEmails } from './submitted-emails.ts';
import { type CampaignTokens, createCampaignTokens } from './tokens.ts';

/**
 * The next claim is made when this many claimed rows are left. At full speed, sending them takes about as long as the
 * claim's statement.
 */
const AHEAD_ROWS = 250;
/**
 * After this many consecutive replies that are not about the message, the provider counts as down. Each further claim
 * would use up an attempt.
 */
const OUTAGE_ANSWERS = 20;

/**
 * An email beyond the project's computing budget waits at least this long, because each turn is an activity in
 * Temporal.
 */
const OVER_BUDGET_MS = 2_000;

/** The dependencies of a turn, some for the whole process and others for its project. */
export interface ChunkSenderDeps {
  db: Db;
  provider: EmailProvider;
  inFlight: InFlightLimit;
  recorder: CampaignRecorder;
  settler: EmailSettler;
  pads: KeyPads;
  /** Undefined when messages are sent unsigned. */
  sign: ((raw: string | Buffer) => Promise<string | Buffer>) | undefined;
  /**
   * Receives every reply of the provider, and tells whether the project's email must wait because its route is paused.
   */
  route: {
    onResult(recipient: ClaimedRecipient, result: ProviderResult): void;
    isPaused(): boolean;
    retryAfterMs(): Promise<number>;
  };
  /** Decides the outcome of a permanent refusal for this recipient. Undefined defers the email. */
  judge(recipient: ClaimedRecipient, result: ProviderResult): Promise<RecordedOutcome | undefined>;
}

/**
 * Runs one turn of a chunk. Claims its rows range by range, some of them in advance, and passes them to the provider
 * within the limit of emails in flight. Returns when every claimed row is recorded or released. Only the latest claim's
 * result counts for a row, and an attempt that has lost rows to another one stops at once.
 */
export async function runTurn(deps: ChunkSenderDeps, turn: ChunkTurn): Promise<ChunkTurnResult> {
  return new ChunkSender(deps, turn, await nextClaimNumber(deps.db)).runTurn();
}

class ChunkSender implements RecordOwner {
  private readonly deps: ChunkSenderDeps;
  private readonly turn: ChunkTurn;
  private readonly claim: number;
  readonly projectId: string;
  /**
   * Whether an automation or webhook waits for `email.sent`, as known at the start of the turn or found by the recorder
   * since.
   */
  private eventful: boolean;
  private sent = 0;
  private deferred = 0;
  /** The number of emails that got a reply or could not be composed. */
  private answers = 0;
  private inDoubt = 0;
  private outage = 0;
  private fenced = false;
  private failure: Error | null = null;
  /** Milliseconds until the project's computing budget allows another message. */
  private overBudgetMs: number | undefined;
  private readonly unsent: string[] = [];
  /** Claimed rows whose recipient is the simulator. They used no tokens of the send rate. */
  private readonly free = new Set<string>();
  /** Undefined when the project has no send rate. */
  private readonly tokens: CampaignTokens | undefined;
  private readonly claims: ChunkClaims;
  private readonly submitted: SubmittedEmails;
  private drained: (() => void) | undefined;

  constructor(deps: ChunkSenderDeps, turn: ChunkTurn, claim: number) {
    this.deps = deps;
    this.turn = turn;
    this.claim = claim;
    this.claims = new ChunkClaims(deps, turn, claim);
    this.submitted = new SubmittedEmails(deps.provider);
    this.projectId = turn.chunk.projectId;
    this.eventful = turn.eventful;
    const { chunk, ratePerSecond, stop, untilMs } = turn;
    if (ratePerSecond > 0)
      this.tokens = createCampaignTokens({
        db: deps.db,
        projectId: chunk.projectId,
        ratePerSecond,
        stop,
        untilMs,
        halted: () => this.halted,
      });
  }

  async runTurn(): Promise<ChunkTurnResult> {
    await this.claims.open({ rowByRow: this.tokens !== undefined });
    const stopped = () => this.withdraw();
    this.turn.stop.addEventListener('abort', stopped);
    const timer = setTimeout(stopped, Math.max(0, this.turn.untilMs - Date.now()));
    try {
      await (this.tokens ? this.sendPaced(this.tokens) : this.sendRanges());
    } finally {
      clearTimeout(timer);
      this.turn.stop.removeEventListener('abort', stopped);
      await this.drain();
      await releaseClaims(this.deps.db, { ids: this.unsent, claim: this.claim });
      await this.tokens?.returnTokens(this.unsent.filter((id) => !this.free.has(id)).length);
    }
    if (this.failure) throw this.failure;
    return this.result();
  }

  /** Frees the slots of emails whose result is certain, because they are recorded or belong to another attempt. */
  recorded(emails: number): void {
    this.inDoubt -= emails;
    this.deps.inFlight.release(this.projectId, emails);
    if (this.inDoubt === 0) this.drained?.();
  }

  wanted(recipient: ClaimedRecipient, providerId: string | null): void {
    this.eventful = true;
    this.settle(recipient, { kind: 'accepted', providerMessageId: providerId, subject: '' });
  }

  lost(error: Error | null): void {
    this.fenced = true;
    this.failure ??= error;
    this.withdraw();
  }

  /** Tells whether the turn sends no further email. */
  private get halted(): boolean {
    const { stop, untilMs, slow } = this.turn;
    if (this.overBudgetMs !== undefined || slow.hopeless || this.isRoutePaused()) return true;
    return this.fenced || this.claims.blocked || stop.aborted || this.outage >= OUTAGE_ANSWERS || Date.now() >= untilMs;
  }

  /** Tells whether the route is paused. Emails of a test key reach no provider, so no pause stops them. */
  private isRoutePaused(): boolean {
    return this.turn.terms.mode === 'live' && this.deps.route.isPaused();
  }

  private async result(): Promise<ChunkTurnResult> {
    const { sent, turn } = this;
    if (await finishChunk(this.deps.db, turn.chunk)) return { outcome: 'done', sent };
    const routePausedMs = this.isRoutePaused() ? await this.deps.route.retryAfterMs() : undefined;
    return unfinishedResult({
      sent,
      resultCount: this.answers + this.claims.skipped,
      deferred: this.deferred,
      deferredBefore: turn.putOff === true,
      from: this.rest(),
      stopped: turn.stop.aborted,
      blocked: this.claims.blocked,
      outage: this.outage >= OUTAGE_ANSWERS,
      routePausedMs,
      hopeless: turn.slow.hopeless,
      retryAfterMs: this.overBudgetMs ?? this.tokens?.retryAfterMs,
      fenced: this.fenced,
    });
  }

  /** The first row that this round has not reached; undefined when it has reached all, or when that is unknown. */
  private rest(): string | undefined {
    if (this.fenced) return undefined;
    const { nextId } = this.claims;
    const ids = nextId === undefined ? this.unsent : [...this.unsent, nextId];
    return ids.reduce<string | undefined>((first, id) => (first === undefined || id < first ? id : first), undefined);
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
      this.claims.adapt(rows.length, Date.now() - startedMs);
      next ??= this.claimNext();
    }
  }

  /** Claims only as many rows as the send rate allows. */
  private async sendPaced(tokens: CampaignTokens): Promise<void> {
    while (this.claims.left > 0 && !this.halted) {
      const granted = await tokens.take(this.claims.left);
      if (granted === 0) return;
      const rows = this.halted ? [] : await this.claims.next(granted);
      const free = rows.filter(({ email }) => isSimulatorAddress(email));
      for (const { id } of free) this.free.add(id);
      const unused = granted - rows.length + free.length;
      if (unused > 0) await tokens.returnTokens(unused);
      for (const row of rows) await this.take(row);
    }
  }

  /**
   * Starts the next claim. Undefined if there is nothing more to claim. A failure is thrown where the claim is awaited.
   */
  private claimNext(): Promise<ClaimedRecipient[]> | undefined {
    if (this.claims.left === 0 || this.halted) return undefined;
    const claimed = this.claims.next();
    claimed.catch(() => undefined);
    return claimed;
  }

  /** Sends a claimed row. Returns a promise only if it has to wait for a slot, because most emails need not wait. */
  private take(row: ClaimedRecipient): Promise<void> | undefined {
    if (this.halted) {
      this.unsent.push(row.id);
      return undefined;
    }
    if (this.turn.composer.costly) return this.takeCostly(row);
    const place = this.deps.inFlight.take(this.projectId);
    if (place) return place.then(() => this.sendAfterWait(row, undefined));
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
    this.sendAfterWait(row, made);
  }

  /** Sends a row that now has a slot, or frees the slot if the turn has stopped in the meantime. */
  private sendAfterWait(row: ClaimedRecipient, made: (() => OutgoingEmail) | undefined): void {
    if (this.halted) {
      this.deps.inFlight.release(this.projectId, 1);
      this.unsent.push(row.id);
      return;
    }
    this.inDoubt += 1;
    this.submit(row, made);
  }

  /**
   * Composes the message before it takes one of the slots for emails in flight, so that a slow message holds no slot.
   * Null if it cannot be composed in this turn.
   */
  private async composed(row: ClaimedRecipient): Promise<(() => OutgoingEmail) | null> {
    const { composer, slow } = this.turn;
    try {
      const message = await composer.composeCostly(row);
      slow.inTime();
      return this.halted ? null : () => message;
    } catch (error) {
      if (error instanceof TemplateError) {
        if (exceededLimit(error)) slow.outOfTime();
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
      else if (!sign) this.submitted.submit(message, onResult);
      else
        sign(message.raw).then(
          (raw) => this.handOverSigned(row, { ...message, raw }, onResult),
          (error: Error) => onResult({ outcome: 'unsent', error: `DKIM: ${error.message}` }),
        );
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      this.answers += 1;
      this.settle(row, failWith('template_error', error.message));
    }
  }

  /** Signs a message and submits it. Signing takes time: if the turn stops meanwhile, the message is not sent. */
  private handOverSigned(
    row: ClaimedRecipient,
    message: OutgoingEmail,
    onResult: (result: ProviderResult) => void,
  ): void {
    if (!this.halted) {
      this.submitted.submit(message, onResult);
      return;
    }
    this.unsent.push(row.id);
    this.recorded(1);
  }

  private withdraw(): void {
    for (const id of this.submitted.takeBack()) {
      this.unsent.push(id);
      this.recorded(1);
    }
  }

  private answered(row: ClaimedRecipient, result: ProviderResult): void {
    const { recorder } = this.deps;
    const { id } = row;
    this.submitted.forget(id);
    this.answers += 1;
    if (this.turn.terms.mode === 'live' && !isSimulatorAddress(row.email)) this.deps.route.onResult(row, result);
    if (result.outcome === 'accepted') {
      this.outage = 0;
      this.sent += 1;
      const { providerMessageId: providerId } = result;
      // The recorder also updates the counts of the project's auto-pause guards.
      if (this.eventful || isSimulatorAddress(row.email))
        this.settle(row, { kind: 'accepted', providerMessageId: providerId, subject: '' });
      else recorder.sent(this, { recipient: row, claim: this.claim, providerId });
      return;
    }
    const aboutMessage = result.outcome === 'refused' && !isSessionStage(result.stage);
    this.outage = aboutMessage ? 0 : this.outage + 1;
    if (this.outage >= OUTAGE_ANSWERS || this.isRoutePaused()) this.withdraw();
    if (aboutMessage && result.permanent) void this.judged(row, result);
    else this.deferEmail(row, result);
  }

  private async judged(row: ClaimedRecipient, result: ProviderResult): Promise<void> {
    try {
      const outcome = await this.deps.judge(row, result);
      if (outcome) this.settle(row, outcome);
      else this.deferEmail(row, result);
    } catch (error) {
      this.recorded(1);
      this.lost(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private deferEmail(recipient: ClaimedRecipient, result: ProviderResult): void {
    this.deferred += 1;
    this.deps.recorder.deferred(this, { recipient, claim: this.claim, error: wordsOf(result) });
  }

  /** Records an outcome with all its consequences: bounce events, suppression, waits for `email.sent`. */
  private settle(row: ClaimedRecipient, outcome: RecordedOutcome): void {
    const event = outcome.kind === 'failed' ? null : this.turn.composer.eventOf(row);
    const email = toAttemptedEmail(this.turn, this.claim, row);
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

  private async drain(): Promise<void> {
    while (this.inDoubt > 0) {
      this.deps.recorder.flush();
      await new Promise<void>((resolve) => {
        this.drained = resolve;
      });
    }
  }
}

/** The result for an email of a test key. It is rendered and recorded, but no provider gets it. */
const NOT_SENT: ProviderResult = { outcome: 'accepted', providerMessageId: null, reply: '' };

function wordsOf(result: ProviderResult): string {
  if (result.outcome === 'refused') return `${result.code} ${result.text}`;
  return result.outcome === 'accepted' ? '' : result.error;
}
