import { CancellationScope, condition, isCancellation, patched, setCurrentDetails } from '@temporalio/workflow';
import type { CampaignProgress, ChunkResult, ChunkState } from '../rules/campaigns/campaign.ts';
import { computeNextChunkState } from '../rules/campaigns/chunk-state.ts';
import { pluralize } from '../rules/pluralize.ts';
import { controlActivities } from './campaign-activities.ts';
import type { AudienceStage } from './campaign-audience.ts';
import { runChunkTurn } from './campaign-chunk.ts';
import {
  addDueChunks,
  addWaitingChunk,
  applyClockChange,
  countChunksToResume,
  findNextDueMs,
  hasNewChunks,
  isExhausted,
  mergeReport,
  shouldReadDueChunks,
  takeNextChunk,
} from './campaign-progress.ts';
import type { CampaignRunInput, CampaignSignals, StartPosition } from './campaign-start.ts';
import { advanceTest, computeMsUntilWinner, isTestDue, type TestOutcome } from './campaign-test.ts';
import { KeptTimer } from './kept-timer.ts';

/**
 * The maximum number of chunks of one campaign that are scheduled at the same time. Each worker takes as many tasks as
 * it has free slots, so with more workers more of these chunks really run. The other chunks wait in the task queue,
 * where Temporal's fairness lets tasks of other projects go first.
 */
const LANES = 16;
/**
 * A campaign with a send rate gets one lane for each 1,000 emails a second of its rate, rounded up, and at most
 * `LANES`. These lanes wait most of the time.
 */
const LANE_RATE = 1_000;
/**
 * During a hold, the workflow starts its chunks again at this interval, to find out whether the hold has ended. An
 * operator who ends the hold directly in the database sends no signal.
 */
const HELD_RECHECK_MS = 300_000;

/**
 * Sends the chunks of a campaign in lanes. Each lane runs one chunk at a time, and takes the next chunk when the
 * previous chunk has ended. Meanwhile the workflow adds the rest of the audience.
 */
export class Sending {
  /** The project's send rate in the last report of an activity. */
  rate: number;
  paused: boolean;
  private readonly start: CampaignRunInput;
  private readonly progress: CampaignProgress;
  private readonly signals: CampaignSignals;
  private readonly audience: AudienceStage;
  private readonly running = new Map<number, ChunkState>();
  /**
   * The cancellation scope of the activities that send chunks. A pause of the campaign cancels only these activities.
   */
  private chunks = new CancellationScope();
  private readingAudience = false;
  /**
   * The numbers of the chunks whose last turn found the project on hold. The set is cleared after a signal and after
   * `HELD_RECHECK_MS`, so that these chunks get another turn.
   */
  private readonly heldChunks = new Set<number>();
  private ended = false;
  private stopping = false;
  /**
   * The end of the current wait for the send rate, the project's processor budget or a paused route, in milliseconds
   * since 1970. Until then, the workflow starts no chunk.
   */
  private throttledUntilMs = 0;
  /** True if the current wait is for a paused route. */
  private isRoutePaused = false;
  private changes = 0;
  /**
   * The chunks whose waiting was stored in Postgres since the current read of due chunks started. Undefined while no
   * such read is running.
   */
  private newlyWaiting: ChunkState[] | undefined;
  private readonly timer = new KeptTimer();
  private failure: unknown;

  constructor(
    p: {
      start: CampaignRunInput;
      progress: CampaignProgress;
      signals: CampaignSignals;
      audience: AudienceStage;
    } & StartPosition,
  ) {
    this.start = p.start;
    this.progress = p.progress;
    this.signals = p.signals;
    this.audience = p.audience;
    this.rate = p.rate;
    this.paused = p.paused;
  }

  /**
   * Sends until no chunk is left (`idle`), the campaign has ended (`ended`), or the workflow should continue as new
   * (`continue`). Returns only when no activity is running any more.
   */
  async run(): Promise<'idle' | 'ended' | 'continue'> {
    const scope = new CancellationScope({ cancellable: true });
    const result = await scope.run(() => this.schedule());
    this.stopping = true;
    if (result === 'ended') scope.cancel();
    const isQuiet = () => this.running.size === 0 && !this.readingAudience;
    // The last turns may take a minute to end, and signals make the history grow meanwhile. After too many signals, the
    // running turns are cancelled.
    await condition(() => isQuiet() || this.signals.length.isTooLong());
    if (!isQuiet()) scope.cancel();
    await condition(isQuiet);
    this.timer.cancel();
    if (this.failure !== undefined) throw this.failure;
    return this.ended ? 'ended' : result;
  }

  private get held(): boolean {
    return this.heldChunks.size > 0;
  }

  private async schedule(): Promise<'idle' | 'ended' | 'continue'> {
    this.chunks = new CancellationScope();
    if (!this.progress.audienceDone) void this.addAudience();
    for (;;) {
      if (this.signals.changed) await this.readState();
      if (this.ended || this.failure !== undefined) return 'ended';
      if (this.signals.length.shouldStartNewRun()) return 'continue';
      if (!this.paused && isTestDue(this.progress, this.running.size)) {
        this.applyTestOutcome(await advanceTest(this.start, this.progress));
        continue;
      }
      if (!this.held && this.canStartChunk() && shouldReadDueChunks(this.progress)) {
        await this.readDue();
        continue;
      }
      this.startChunks();
      if (this.running.size === 0 && isExhausted(this.progress)) return 'idle';
      setCurrentDetails(this.describe());
      await this.waitForChange();
    }
  }

  private async addAudience(): Promise<void> {
    this.readingAudience = true;
    try {
      while (!this.progress.audienceDone && !this.stopping) {
        if (!(await this.audience.addPart())) this.ended = true;
        if (this.ended) return;
        this.changes += 1;
      }
    } catch (error) {
      if (!isCancellation(error)) this.failure = error;
    } finally {
      this.readingAudience = false;
      this.changes += 1;
    }
  }

  private async readState(): Promise<void> {
    this.signals.changed = false;
    this.heldChunks.clear();
    const state = await controlActivities.readCampaignStart.executeWithOptions(
      { summary: 'read the changed campaign' },
      [this.start],
    );
    this.ended ||= state.phase === 'ended';
    if (state.phase !== 'sending' && state.phase !== 'paused') return;
    this.rate = state.rate ?? this.rate;
    this.paused = state.phase === 'paused';
    applyClockChange(this.progress, state.clock);
    if (state.test) mergeReport(this.progress, state.test);
    if (!this.paused) return;
    this.chunks.cancel();
    this.chunks = new CancellationScope();
  }

  private applyTestOutcome(outcome: TestOutcome): void {
    if (outcome === 'paused') this.signals.changed = true;
    if (outcome === 'ended') this.ended = true;
  }

  /** Reads due chunks from Postgres. No lane takes another chunk until the result arrives. */
  private async readDue(): Promise<void> {
    const { later, nextSeq: before } = this.progress;
    const newlyWaiting: ChunkState[] = [];
    this.newlyWaiting = newlyWaiting;
    const except = [...this.running.keys(), ...later.map((chunk) => chunk.seq)];
    const input = { ...this.start, before, except };
    const result = await controlActivities.readDueChunks.executeWithOptions({ summary: 'find due chunks' }, [input]);
    this.newlyWaiting = undefined;
    addDueChunks(this.progress, result, newlyWaiting);
  }

  /**
   * Tells whether a lane may start another chunk now. While the project is on hold, the send rate does not matter,
   * because a chunk then sends no email.
   */
  private canStartChunk(): boolean {
    const throttled = !this.held && this.throttledUntilMs > Date.now();
    return !this.paused && this.running.size < this.countLanes() && !throttled;
  }

  private startChunks(): void {
    while (this.canStartChunk()) {
      const chunk = this.nextChunk();
      if (!chunk) return;
      this.running.set(chunk.seq, chunk);
      void this.runChunk(chunk);
    }
  }

  /** Takes the next chunk to start. During a hold, each chunk gets one turn, which makes its recipients HELD. */
  private nextChunk(): ChunkState | undefined {
    if (this.held && !patched('hold-every-chunk')) return undefined;
    return takeNextChunk(this.progress, this.heldChunks);
  }

  private countLanes(): number {
    return this.rate > 0 ? Math.min(LANES, Math.ceil(this.rate / LANE_RATE)) : LANES;
  }

  private async runChunk(chunk: ChunkState): Promise<void> {
    try {
      this.applyResult(chunk, await this.chunks.run(() => runChunkTurn(this.start, chunk, this.rate)));
    } catch (error) {
      this.progress.later.push(chunk);
      if (!isCancellation(error)) this.failure = error;
    } finally {
      this.running.delete(chunk.seq);
      this.changes += 1;
    }
  }

  private applyResult(chunk: ChunkState, result: ChunkResult): void {
    this.rate = result.rate ?? this.rate;
    const unfinished = computeNextChunkState(chunk, result, { nowMs: Date.now(), clock: this.progress.clock });
    if (unfinished && result.kept) {
      addWaitingChunk(this.progress, unfinished);
      this.newlyWaiting?.push(unfinished);
    } else if (unfinished) this.progress.later.push(unfinished);
    switch (result.outcome) {
      case 'paced':
        this.throttledUntilMs = Math.max(this.throttledUntilMs, Date.now() + result.retryAfterMs);
        this.isRoutePaused = result.isRoutePaused === true;
        return;
      case 'shut':
        // The activity has read other settings than this workflow.
        if (result.clock !== this.progress.clock) this.signals.changed = true;
        return;
      case 'held':
        this.heldChunks.add(chunk.seq);
        return;
      case 'paused':
        // The activity found the campaign paused. A user may have resumed it in the meantime, so the workflow reads the
        // state again.
        this.signals.changed = true;
        return;
      case 'ended':
        this.ended = true;
        return;
      case 'done':
      case 'more':
      case 'deferred':
    }
  }

  /**
   * Waits until a chunk has finished, a part of the audience was added, a signal has arrived, or a timer has fired. The
   * timer fires when a waiting chunk is due, when the workflow must check the hold again, or when the test ends.
   */
  private async waitForChange(): Promise<void> {
    const changesBefore = this.changes;
    const isAwake = () => this.changes !== changesBefore || this.signals.changed;
    // A paused campaign needs no timer, because the transaction that resumes it also queues a signal.
    if (this.paused) return condition(isAwake);
    const waitMs = shorterWait(this.held ? HELD_RECHECK_MS : this.msUntilDue(), computeMsUntilWinner(this.progress));
    if (waitMs === undefined) return condition(isAwake);
    const summary = this.summarizeWait(waitMs);
    // Runs that started before this patch start a new timer for the same instant after each change.
    const isWoken = patched('one-timer')
      ? await this.timer.wait(isAwake, Date.now() + waitMs, summary)
      : await condition(isAwake, Math.max(1, waitMs), { summary });
    if (!isWoken) this.heldChunks.clear();
  }

  private msUntilDue(): number | undefined {
    if (this.running.size >= this.countLanes()) return undefined;
    const now = Date.now();
    const dueAtMs = findNextDueMs(this.progress);
    if (this.throttledUntilMs > now && (dueAtMs !== undefined || hasNewChunks(this.progress)))
      return this.throttledUntilMs - now;
    return dueAtMs === undefined ? undefined : dueAtMs - now;
  }

  private summarizeWait(waitMs: number): string {
    if (waitMs === computeMsUntilWinner(this.progress)) return 'until the winner of the test is chosen';
    if (this.held) return 'on hold';
    return this.throttledUntilMs > Date.now() ? this.describeThrottle() : this.describeNextDue();
  }

  private describeThrottle(): string {
    if (this.isRoutePaused) return 'the route is paused, because the provider refuses all email';
    return this.rate > 0 ? 'waits for the send rate' : 'waits for the processor budget of the project';
  }

  /** Describes, for the Temporal UI, until when and why the next chunk waits. */
  private describeNextDue(): string {
    const { later, waiting } = this.progress;
    const [next] = [...later, ...(waiting ? [waiting] : [])].sort((a, b) => a.dueAtMs - b.dueAtMs);
    const until = next ? `until ${new Date(next.dueAtMs).toISOString()}, ` : '';
    return `${until}${next?.shut ? 'for local times or a sending window' : 'deferred by the provider'}`;
  }

  private describeFirstDue(): string {
    const dueAtMs = findNextDueMs(this.progress) ?? 0;
    return dueAtMs > Date.now() ? `, the first at ${new Date(dueAtMs).toISOString()}` : '';
  }

  private describe(): string {
    const { nextSeq, lastSeq, recipients } = this.progress;
    const unfinished = countChunksToResume(this.progress);
    const finished = nextSeq - 1 - unfinished - this.running.size;
    const parts = [
      `Sending to ${pluralize(recipients, 'recipient')}: ${finished} of ${lastSeq} chunks sent, ${this.running.size} in progress`,
    ];
    if (!this.progress.audienceDone) parts.push('the audience is still being read');
    if (this.rate > 0) parts.push(`at most ${this.rate} per second`);
    if (unfinished > 0) parts.push(`${unfinished} to continue later${this.describeFirstDue()}`);
    if (this.held) parts.push('the project is on hold');
    if (this.paused) parts.push('the campaign is paused');
    if (this.progress.testing) parts.push('the other recipients wait for the winner of the test');
    return parts.join(', ');
  }
}

/** Returns the shorter of two waits in milliseconds. Undefined means a wait without end. */
function shorterWait(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}
