import type { EmailProvider, OutgoingEmail, ProviderResult } from '../../channels/email/provider.ts';
import { OverBudget } from '../../compute/compute.ts';
import { finishChunk } from '../../db/campaigns/chunks.ts';
import { type ClaimedRecipient, nextClaimNumber, releaseClaims } from '../../db/campaigns/claims.ts';
import type { Db } from '../../db/connection.ts';
import { TemplateError } from '../../rules/content/template-error.ts';
import { createFailedOutcome, type RecordedOutcome } from '../../rules/emails/attempt-outcome.ts';
import { isSessionStage } from '../../rules/emails/refusal.ts';
import { isSimulatorAddress } from '../../rules/emails/simulator.ts';
import type { KeyPads } from '../../rules/emails/suppression.ts';
import { isLimitError } from '../../rules/time-limit.ts';
import type { InFlightLimit } from '../emails/in-flight-limit.ts';
import type { EmailSettler } from '../emails/settler.ts';
import { ChunkClaims } from './chunk-claims.ts';
import { createUnfinishedResult } from './chunk-result.ts';
import { type ChunkTurn, type ChunkTurnResult, toAttemptedEmail } from './chunk-turn.ts';
import type { CampaignRecorder, RecordOwner } from './recorder.ts';
import { SubmittedEmails } from './submitted-emails.ts';
import { type CampaignTokens, createCampaignTokens } from './tokens.ts';

/**
 * The next claim starts when this many claimed rows are still unsent. At full speed, sending these rows takes about as
 * long as the statement of the claim.
 */
const AHEAD_ROWS = 250;
/**
 * After this many consecutive failures that are not about the message itself, the turn considers the provider down and
 * stops. A further claim would use up one attempt of each claimed email.
 */
const OUTAGE_REPLIES = 20;

/**
 * When a project exceeds its computing budget, its chunk waits at least this long before the next turn, because each
 * turn costs Temporal an activity.
 */
const OVER_BUDGET_MS = 2_000;

/**
 * The dependencies of a turn. The fields `sign`, `route` and `decideRefusal` are created for the project; the turns of
 * all projects in the process share the other fields.
 */
export interface ChunkSenderDeps {
  db: Db;
  provider: EmailProvider;
  inFlight: InFlightLimit;
  recorder: CampaignRecorder;
  settler: EmailSettler;
  pads: KeyPads;
  /** Signs a message with DKIM. Undefined when messages are sent unsigned. */
  sign: ((raw: string | Buffer) => Promise<string | Buffer>) | undefined;
  /**
   * Watches the route to the provider for this project: receives the result of each attempt to send a live email, and
   * tells whether the project's email must wait because the route is paused.
   */
  route: {
    onResult(recipient: ClaimedRecipient, result: ProviderResult): void;
    isPaused(): boolean;
    retryAfterMs(): Promise<number>;
  };
  /** Decides the outcome of a permanent refusal for this recipient. If it returns undefined, the email is deferred. */
  decideRefusal(recipient: ClaimedRecipient, result: ProviderResult): Promise<RecordedOutcome | undefined>;
}

/**
 * Runs one turn of a chunk. Claims the chunk's rows range by range, usually a few hundred rows in advance, and submits
 * their emails to the provider within the limit of emails in flight. Returns when every claimed row is recorded or
 * released. Only the result of the latest claim counts for a row. If another attempt has claimed rows of this attempt,
 * this attempt stops at once.
 */
export async function sendChunkTurn(deps: ChunkSenderDeps, turn: ChunkTurn): Promise<ChunkTurnResult> {
  return new ChunkSender(deps, turn, await nextClaimNumber(deps.db)).sendChunkTurn();
}

class ChunkSender implements RecordOwner {
  private readonly deps: ChunkSenderDeps;
  private readonly turn: ChunkTurn;
  private readonly claim: number;
  readonly projectId: string;
  /**
   * Whether `email.sent` has listeners in the project (db/events/listeners.ts). The turn checks this at its start, and
   * the recorder reports a listener that is added later.
   */
  private hasListeners: boolean;
  private sent = 0;
  private deferred = 0;
  /** The number of emails whose attempt ended, with any outcome, and of emails that could not be composed. */
  private resultCount = 0;
  private unrecorded = 0;
  private outageReplies = 0;
  private hasLostRows = false;
  private failure: Error | null = null;
  /** Milliseconds until the project's computing budget allows another message. */
  private overBudgetMs: number | undefined;
  private readonly unsent: string[] = [];
  /**
   * The ids of claimed rows whose recipient is the simulator. Emails to the simulator use no token of the send rate.
   */
  private readonly withoutToken = new Set<string>();
  /** The tokens of the project's send rate. Undefined when the project has no send rate. */
  private readonly tokens: CampaignTokens | undefined;
  private readonly claims: ChunkClaims;
  private readonly submitted: SubmittedEmails;
  private onAllRecorded: (() => void) | undefined;

  constructor(deps: ChunkSenderDeps, turn: ChunkTurn, claim: number) {
    this.deps = deps;
    this.turn = turn;
    this.claim = claim;
    this.claims = new ChunkClaims(deps, turn, claim);
    this.submitted = new SubmittedEmails(deps.provider);
    this.projectId = turn.chunk.projectId;
    this.hasListeners = turn.hasListeners;
    const { chunk, ratePerSecond, stop, untilMs } = turn;
    if (ratePerSecond > 0)
      this.tokens = createCampaignTokens({
        db: deps.db,
        projectId: chunk.projectId,
        ratePerSecond,
        stop,
        untilMs,
        isHalted: () => this.isHalted,
      });
  }

  async sendChunkTurn(): Promise<ChunkTurnResult> {
    await this.claims.readRanges({ rowByRow: this.tokens !== undefined });
    const onStop = () => this.withdraw();
    this.turn.stop.addEventListener('abort', onStop);
    const timer = setTimeout(onStop, Math.max(0, this.turn.untilMs - Date.now()));
    try {
      await (this.tokens ? this.sendPaced(this.tokens) : this.sendRanges());
    } finally {
      clearTimeout(timer);
      this.turn.stop.removeEventListener('abort', onStop);
      await this.waitUntilRecorded();
      await releaseClaims(this.deps.db, { ids: this.unsent, claim: this.claim });
      await this.tokens?.returnTokens(this.unsent.filter((id) => !this.withoutToken.has(id)).length);
    }
    if (this.failure) throw this.failure;
    return this.buildResult();
  }

  /**
   * Frees the slots of emails that this turn no longer has in flight: the result is recorded, another attempt has
   * claimed the email, or the email was withdrawn before it was sent.
   */
  onRecorded(emails: number): void {
    this.unrecorded -= emails;
    this.deps.inFlight.release(this.projectId, emails);
    if (this.unrecorded === 0) this.onAllRecorded?.();
  }

  onListenerFound(recipient: ClaimedRecipient, providerId: string | null): void {
    this.hasListeners = true;
    this.settle(recipient, { kind: 'accepted', providerMessageId: providerId, subject: '' });
  }

  onLost(error: Error | null): void {
    this.hasLostRows = true;
    this.failure ??= error;
    this.withdraw();
  }

  /** Tells whether the turn has to stop sending. */
  private get isHalted(): boolean {
    const { stop, untilMs, slow } = this.turn;
    if (this.overBudgetMs !== undefined || slow.isTooSlow || this.isRoutePaused()) return true;
    return (
      this.hasLostRows ||
      this.claims.isBlocked ||
      stop.aborted ||
      this.outageReplies >= OUTAGE_REPLIES ||
      Date.now() >= untilMs
    );
  }

  /**
   * Tells whether the route is paused for this turn's emails. Emails of a test key reach no provider, so a pause does
   * not stop them.
   */
  private isRoutePaused(): boolean {
    return this.turn.terms.mode === 'live' && this.deps.route.isPaused();
  }

  private async buildResult(): Promise<ChunkTurnResult> {
    const { sent, turn } = this;
    if (await finishChunk(this.deps.db, turn.chunk)) return { outcome: 'done', sent };
    const routePausedMs = this.isRoutePaused() ? await this.deps.route.retryAfterMs() : undefined;
    return createUnfinishedResult({
      sent,
      resultCount: this.resultCount + this.claims.skippedCount,
      deferred: this.deferred,
      deferredBefore: turn.putOff === true,
      from: this.findFirstUnreachedId(),
      isStopped: turn.stop.aborted,
      isBlocked: this.claims.isBlocked,
      isProviderDown: this.outageReplies >= OUTAGE_REPLIES,
      routePausedMs,
      isTooSlow: turn.slow.isTooSlow,
      retryAfterMs: this.overBudgetMs ?? this.tokens?.retryAfterMs,
      hasLostRows: this.hasLostRows,
    });
  }

  /**
   * Returns the id of the first row that this pass over the rows of the chunk has not reached. Undefined when the pass
   * has reached all rows, or when another attempt has claimed rows.
   */
  private findFirstUnreachedId(): string | undefined {
    if (this.hasLostRows) return undefined;
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
        const wait = row && this.sendRow(row);
        if (wait) await wait;
      }
      this.claims.adaptClaimSize(rows.length, Date.now() - startedMs);
      next ??= this.claimNext();
    }
  }

  /** Claims only as many rows as the send rate allows. */
  private async sendPaced(tokens: CampaignTokens): Promise<void> {
    while (this.claims.rangesLeft > 0 && !this.isHalted) {
      const granted = await tokens.take(this.claims.rangesLeft);
      if (granted === 0) return;
      const rows = this.isHalted ? [] : await this.claims.claimNext(granted);
      const simulated = rows.filter(({ email }) => isSimulatorAddress(email));
      for (const { id } of simulated) this.withoutToken.add(id);
      const unused = granted - rows.length + simulated.length;
      if (unused > 0) await tokens.returnTokens(unused);
      for (const row of rows) await this.sendRow(row);
    }
  }

  /**
   * Starts the next claim. Returns undefined if the chunk has no more rows to claim, or if the turn has to stop. If the
   * claim fails, the error is thrown where the returned promise is awaited.
   */
  private claimNext(): Promise<ClaimedRecipient[]> | undefined {
    if (this.claims.rangesLeft === 0 || this.isHalted) return undefined;
    const claimed = this.claims.claimNext();
    claimed.catch(() => undefined);
    return claimed;
  }

  /**
   * Sends the email of a claimed row. Returns a promise only if the email has to wait for a slot, because a promise for
   * each email would cost time.
   */
  private sendRow(row: ClaimedRecipient): Promise<void> | undefined {
    if (this.isHalted) {
      this.unsent.push(row.id);
      return undefined;
    }
    if (this.turn.composer.costly) return this.sendCostlyRow(row);
    const slot = this.deps.inFlight.take(this.projectId);
    if (slot) return slot.then(() => this.sendAfterWait(row, undefined));
    this.unrecorded += 1;
    this.submit(row, undefined);
    return undefined;
  }

  private async sendCostlyRow(row: ClaimedRecipient): Promise<void> {
    const getMessage = await this.composeEarly(row);
    if (getMessage === null) {
      this.unsent.push(row.id);
      return;
    }
    const slot = this.deps.inFlight.take(this.projectId);
    if (slot) await slot;
    this.sendAfterWait(row, getMessage);
  }

  /**
   * Sends the email of a row that has just got a slot. If the turn has stopped in the meantime, frees the slot instead.
   */
  private sendAfterWait(row: ClaimedRecipient, getMessage: (() => OutgoingEmail) | undefined): void {
    if (this.isHalted) {
      this.deps.inFlight.release(this.projectId, 1);
      this.unsent.push(row.id);
      return;
    }
    this.unrecorded += 1;
    this.submit(row, getMessage);
  }

  /**
   * Composes a costly message before the email takes a slot, so that a slow message occupies no slot. Returns null if
   * the message cannot be composed in this turn.
   */
  private async composeEarly(row: ClaimedRecipient): Promise<(() => OutgoingEmail) | null> {
    const { composer, slow } = this.turn;
    try {
      const message = await composer.composeCostly(row);
      slow.countInTime();
      return this.isHalted ? null : () => message;
    } catch (error) {
      if (error instanceof TemplateError) {
        if (isLimitError(error)) slow.countTimeout();
        else slow.countInTime();
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

  private submit(row: ClaimedRecipient, getMessage: (() => OutgoingEmail) | undefined): void {
    const { sign } = this.deps;
    const onResult = (result: ProviderResult) => this.onReply(row, result);
    try {
      const message = getMessage ? getMessage() : this.turn.composer.compose(row);
      if (this.turn.terms.mode === 'test') queueMicrotask(() => onResult(NOT_SENT));
      else if (!sign) this.submitted.submit(message, onResult);
      else
        sign(message.raw).then(
          (raw) => this.submitSigned(row, { ...message, raw }, onResult),
          (error: Error) => onResult({ outcome: 'unsent', error: `DKIM: ${error.message}` }),
        );
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      this.resultCount += 1;
      this.settle(row, createFailedOutcome('template_error', error.message));
    }
  }

  /**
   * Submits a signed message to the provider. Signing takes time: if the turn has stopped in the meantime, the message
   * is not sent.
   */
  private submitSigned(
    row: ClaimedRecipient,
    message: OutgoingEmail,
    onResult: (result: ProviderResult) => void,
  ): void {
    if (!this.isHalted) {
      this.submitted.submit(message, onResult);
      return;
    }
    this.unsent.push(row.id);
    this.onRecorded(1);
  }

  private withdraw(): void {
    for (const id of this.submitted.withdrawUnsent()) {
      this.unsent.push(id);
      this.onRecorded(1);
    }
  }

  private onReply(row: ClaimedRecipient, result: ProviderResult): void {
    const { recorder } = this.deps;
    const { id } = row;
    this.submitted.remove(id);
    this.resultCount += 1;
    if (this.turn.terms.mode === 'live' && !isSimulatorAddress(row.email)) this.deps.route.onResult(row, result);
    if (result.outcome === 'accepted') {
      this.outageReplies = 0;
      this.sent += 1;
      const { providerMessageId: providerId } = result;
      // The settler records the email with all its consequences. The recorder is cheaper, and records only the email
      // and the counts for the project's hold guards (activities/hold-guard.ts).
      if (this.hasListeners || isSimulatorAddress(row.email))
        this.settle(row, { kind: 'accepted', providerMessageId: providerId, subject: '' });
      else recorder.recordSent(this, { recipient: row, claim: this.claim, providerId });
      return;
    }
    const aboutMessage = result.outcome === 'refused' && !isSessionStage(result.stage);
    this.outageReplies = aboutMessage ? 0 : this.outageReplies + 1;
    if (this.outageReplies >= OUTAGE_REPLIES || this.isRoutePaused()) this.withdraw();
    if (aboutMessage && result.permanent) void this.settleRefused(row, result);
    else this.deferEmail(row, result);
  }

  private async settleRefused(row: ClaimedRecipient, result: ProviderResult): Promise<void> {
    try {
      const outcome = await this.deps.decideRefusal(row, result);
      if (outcome) this.settle(row, outcome);
      else this.deferEmail(row, result);
    } catch (error) {
      this.onRecorded(1);
      this.onLost(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private deferEmail(recipient: ClaimedRecipient, result: ProviderResult): void {
    this.deferred += 1;
    this.deps.recorder.recordDeferred(this, { recipient, claim: this.claim, error: getErrorText(result) });
  }

  /** Records an outcome with all its consequences: events, suppression, and executions that wait for `email.sent`. */
  private settle(row: ClaimedRecipient, outcome: RecordedOutcome): void {
    const event = outcome.kind === 'failed' ? null : this.turn.composer.buildEventData(row);
    const email = toAttemptedEmail(this.turn, this.claim, row);
    void this.deps.settler.settle({ email, outcome, event }).then(
      ({ recorded }) => {
        this.onRecorded(1);
        if (!recorded) this.onLost(null);
      },
      (error: Error) => {
        this.onRecorded(1);
        this.onLost(error);
      },
    );
  }

  private async waitUntilRecorded(): Promise<void> {
    while (this.unrecorded > 0) {
      this.deps.recorder.flush();
      await new Promise<void>((resolve) => {
        this.onAllRecorded = resolve;
      });
    }
  }
}

/** The result for an email of a test key. The email is rendered and recorded, but no provider gets it. */
const NOT_SENT: ProviderResult = { outcome: 'accepted', providerMessageId: null, reply: '' };

function getErrorText(result: ProviderResult): string {
  if (result.outcome === 'refused') return `${result.code} ${result.text}`;
  return result.outcome === 'accepted' ? '' : result.error;
}
