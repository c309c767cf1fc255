import { CancellationScope, condition, isCancellation, patched, setCurrentDetails } from '@temporalio/workflow';
import type { CampaignProgress, ChunkResult, LaterChunk } from '../rules/campaigns/campaign.ts';
import { chunkAfter } from '../rules/campaigns/later-chunk.ts';
import { counted } from '../rules/counted.ts';
import { control } from './campaign-activities.ts';
import type { AudienceStage } from './campaign-audience.ts';
import { sendChunk } from './campaign-chunk.ts';
import {
  applyClockChange,
  countLater,
  hasNewChunks,
  isExhausted,
  learnOfTest,
  nextDueAt,
  noteWaiting,
  shouldReadDueChunks,
  takeDueChunks,
  takeNextChunk,
} from './campaign-progress.ts';
import type { CampaignRunInput, News, StartPosition } from './campaign-start.ts';
import { isTestDue, judgeTest, msUntilTestEnds, type TestOutcome } from './campaign-test.ts';
import { KeptTimer } from './kept-timer.ts';

/**
 * The number of chunks of one campaign that run at a time, at most. The workers decide how many really run: each takes
 * as many bulk tasks as it has free slots, so lanes scale with the workers. The rest wait in the queue, where fairness
 * lets other projects' tasks pass.
 */
const LANES = 16;
/** With a send rate one lane is enough for this many emails a second, because it waits nearly all the time. */
const RATE_OF_LANE = 1_000;
/** An operator who ends a hold in the database sends no signal, so the workflow checks at this interval. */
const HELD_RECHECK_MS = 300_000;

/**
 * Runs the lanes: as many chunks as may run at a time, the next one as soon as one has finished, and the rest of the
 * audience beside them.
 */
export class Sending {
  /** The last reported value. */
  rate: number;
  paused: boolean;
  private readonly start: CampaignRunInput;
  private readonly progress: CampaignProgress;
  private readonly news: News;
  private readonly audience: AudienceStage;
  private readonly running = new Map<number, LaterChunk>();
  /** The scope of running chunks: a pause cancels them, and the rest continues. */
  private chunks = new CancellationScope();
  private taking = false;
  private held = false;
  private ended = false;
  private leaving = false;
  /** The instant, in milliseconds since 1970, until which the send rate allows no further email. */
  private pacedUntilMs = 0;
  private settled = 0;
  /**
   * Chunks that started to wait in Postgres since the workflow asked for due ones; undefined while no request is
   * running.
   */
  private arrived: LaterChunk[] | undefined;
  private readonly timer = new KeptTimer();
  private failure: unknown;

  constructor(
    p: { start: CampaignRunInput; progress: CampaignProgress; news: News; audience: AudienceStage } & StartPosition,
  ) {
    this.start = p.start;
    this.progress = p.progress;
    this.news = p.news;
    this.audience = p.audience;
    this.rate = p.rate;
    this.paused = p.paused;
  }

  /**
   * Returns `idle` when no chunk is left, `continue` when the history is long enough. Nothing runs any more when it
   * returns.
   */
  async run(): Promise<'idle' | 'ended' | 'continue'> {
    const scope = new CancellationScope({ cancellable: true });
    const result = await scope.run(() => this.schedule());
    this.leaving = true;
    if (result === 'ended') scope.cancel();
    const isQuiet = () => this.running.size === 0 && !this.taking;
    // The last turns may take a minute to end, and signals make the history grow meanwhile. When the history is too
    // long, the running turns are cancelled.
    await condition(() => isQuiet() || this.news.length.isLong());
    if (!isQuiet()) scope.cancel();
    await condition(isQuiet);
    this.timer.cancel();
    if (this.failure !== undefined) throw this.failure;
    return this.ended ? 'ended' : result;
  }

  private async schedule(): Promise<'idle' | 'ended' | 'continue'> {
    this.chunks = new CancellationScope();
    if (!this.progress.audienceDone) void this.takeAudience();
    for (;;) {
      if (this.news.changed) await this.readAgain();
      if (this.ended || this.failure !== undefined) return 'ended';
      if (this.news.length.shouldContinue()) return 'continue';
      if (!this.paused && isTestDue(this.progress, this.running.size)) {
        this.heedTest(await judgeTest(this.start, this.progress));
        continue;
      }
      if (this.hasRoom() && shouldReadDueChunks(this.progress)) {
        await this.readDue();
        continue;
      }
      this.fill();
      if (this.running.size === 0 && isExhausted(this.progress)) return 'idle';
      setCurrentDetails(this.describe());
      await this.pause();
    }
  }

  private async takeAudience(): Promise<void> {
    this.taking = true;
    try {
      while (!this.progress.audienceDone && !this.leaving) {
        if (!(await this.audience.takeMore())) this.ended = true;
        if (this.ended) return;
        this.settled += 1;
      }
    } catch (error) {
      if (!isCancellation(error)) this.failure = error;
    } finally {
      this.taking = false;
      this.settled += 1;
    }
  }

  private async readAgain(): Promise<void> {
    this.news.changed = false;
    this.held = false;
    const state = await control.readCampaignStart.executeWithOptions({ summary: 'read the change' }, [this.start]);
    this.ended ||= state.phase === 'ended';
    if (state.phase !== 'sending' && state.phase !== 'paused') return;
    this.rate = state.rate ?? this.rate;
    this.paused = state.phase === 'paused';
    applyClockChange(this.progress, state.clock);
    if (state.test) learnOfTest(this.progress, state.test);
    if (!this.paused) return;
    this.chunks.cancel();
    this.chunks = new CancellationScope();
  }

  private heedTest(outcome: TestOutcome): void {
    if (outcome === 'paused') this.news.changed = true;
    if (outcome === 'ended') this.ended = true;
  }

  /** Reads due chunks from Postgres. No lane takes another chunk until the result arrives. */
  private async readDue(): Promise<void> {
    const { later, nextSeq: before } = this.progress;
    const arrived: LaterChunk[] = [];
    this.arrived = arrived;
    const except = [...this.running.keys(), ...later.map((chunk) => chunk.seq)];
    const input = { ...this.start, before, except };
    const answer = await control.readDueChunks.executeWithOptions({ summary: 'find due chunks' }, [input]);
    this.arrived = undefined;
    takeDueChunks(this.progress, answer, arrived);
  }

  /** Tells whether another chunk may start now. */
  private hasRoom(): boolean {
    return !this.held && !this.paused && this.running.size < this.lanes() && this.pacedUntilMs <= Date.now();
  }

  private fill(): void {
    while (this.hasRoom()) {
      const chunk = takeNextChunk(this.progress);
      if (!chunk) return;
      this.running.set(chunk.seq, chunk);
      void this.work(chunk);
    }
  }

  private lanes(): number {
    return this.rate > 0 ? Math.min(LANES, Math.ceil(this.rate / RATE_OF_LANE)) : LANES;
  }

  private async work(chunk: LaterChunk): Promise<void> {
    try {
      this.settle(chunk, await this.chunks.run(() => sendChunk(this.start, chunk, this.rate)));
    } catch (error) {
      this.progress.later.push(chunk);
      if (!isCancellation(error)) this.failure = error;
    } finally {
      this.running.delete(chunk.seq);
      this.settled += 1;
    }
  }

  private settle(chunk: LaterChunk, result: ChunkResult): void {
    this.rate = result.rate ?? this.rate;
    const again = chunkAfter(chunk, result, { nowMs: Date.now(), clock: this.progress.clock });
    if (again && result.kept) {
      noteWaiting(this.progress, again);
      this.arrived?.push(again);
    } else if (again) this.progress.later.push(again);
    switch (result.outcome) {
      case 'paced':
        this.pacedUntilMs = Math.max(this.pacedUntilMs, Date.now() + result.retryAfterMs);
        return;
      case 'shut':
        // The chunk saw other settings than this workflow knows.
        if (result.clock !== this.progress.clock) this.news.changed = true;
        return;
      case 'held':
        this.held = true;
        return;
      case 'paused':
        // The campaign was paused when the chunk checked; its current state is read again.
        this.news.changed = true;
        return;
      case 'ended':
        this.ended = true;
        return;
      case 'done':
      case 'more':
      case 'deferred':
    }
  }

  /** Waits until a chunk has finished, something has changed, or a deferred chunk is due. */
  private async pause(): Promise<void> {
    const seen = this.settled;
    const awake = () => this.settled !== seen || this.news.changed;
    // This may take any time, because the signal of a resume is as durable as the pause.
    if (this.paused) return condition(awake);
    const waitMs = shorterWait(this.held ? HELD_RECHECK_MS : this.untilDue(), msUntilTestEnds(this.progress));
    if (waitMs === undefined) return condition(awake);
    const summary = this.waitsFor(waitMs);
    // Before this patch, each finished chunk started another timer for the same instant.
    const woken = patched('one-timer')
      ? await this.timer.wait(awake, Date.now() + waitMs, summary)
      : await condition(awake, Math.max(1, waitMs), { summary });
    if (!woken && this.held) this.held = false;
  }

  private untilDue(): number | undefined {
    if (this.running.size >= this.lanes()) return undefined;
    const now = Date.now();
    const dueAtMs = nextDueAt(this.progress);
    if (this.pacedUntilMs > now && (dueAtMs !== undefined || hasNewChunks(this.progress)))
      return this.pacedUntilMs - now;
    return dueAtMs === undefined ? undefined : dueAtMs - now;
  }

  private waitsFor(waitMs: number): string {
    if (waitMs === msUntilTestEnds(this.progress)) return 'until the winner of the test is chosen';
    if (this.held) return 'on hold';
    return this.pacedUntilMs > Date.now() ? 'waits for the send rate' : this.nextDue();
  }

  /** Describes what the next due chunk waits for. */
  private nextDue(): string {
    const { later, waiting } = this.progress;
    const [next] = [...later, ...(waiting ? [waiting] : [])].sort((a, b) => a.dueAtMs - b.dueAtMs);
    return next?.shut
      ? `until ${new Date(next.dueAtMs).toISOString()}, for local times or a sending window`
      : 'deferred by the provider';
  }

  private describe(): string {
    const { nextSeq, lastSeq, recipients } = this.progress;
    const again = countLater(this.progress);
    const through = nextSeq - 1 - again - this.running.size;
    const parts = [
      `Sending to ${counted(recipients, 'recipient')}: ${through} of ${lastSeq} chunks sent, ${this.running.size} in progress`,
    ];
    if (!this.progress.audienceDone) parts.push('the audience is still being read');
    if (this.rate > 0) parts.push(`at most ${this.rate} per second`);
    if (again > 0) parts.push(`${again} to continue later`);
    if (this.held) parts.push('the project is on hold');
    if (this.paused) parts.push('the campaign is paused');
    if (this.progress.testing) parts.push('the other recipients wait for the winner of the test');
    return parts.join(', ');
  }
}

/** Returns the shorter of two waits in ms. An undefined wait has no end. */
function shorterWait(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}
