import {
  ActivityCancellationType,
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  patched,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { CampaignChunkActivities, CampaignControlActivities } from '../activities/campaigns/campaigns.ts';
import {
  type CampaignInput,
  type CampaignProgress,
  type ChunkResult,
  type LaterChunk,
  NEW_CAMPAIGN,
} from '../rules/campaigns/campaign.ts';
import { DELIVERY_EXPIRES_MS } from '../rules/emails/retry-schedule.ts';
import { TASK_QUEUES } from '../rules/queues.ts';
import { KeptTimer } from './kept-timer.ts';

/**
 * Chunks of one campaign under way at a time. How many really run is up to the workers: each takes as many bulk tasks
 * as it has places for, so lanes scale with them; the rest wait in the queue, where other projects' tasks pass by
 * fairness.
 */
const LANES = 16;
/**
 * With a send rate one lane is enough, as it waits nearly all the time; one for each so many mails a second where that
 * is not.
 */
const RATE_OF_LANE = 1_000;
/** Nobody signals the end of a hold that an operator set in the database, so it is looked for. */
const HELD_RECHECK_MS = 300_000;
/**
 * A chunk that is not let go though its hour has come is tried again after this: the clocks of database and Temporal
 * may differ a little.
 */
const CLOCK_RECHECK_MS = 500;
/** Each chunk that was through began another timer before, until the same instant. */
const ONE_TIMER = 'one-timer';

/** Short statements; they pass the chunks' queue by, so a cancel is heard while every place for bulk work is taken. */
const control = proxyActivities<CampaignControlActivities>({
  taskQueue: TASK_QUEUES.automation,
  allowEagerDispatch: false,
  startToCloseTimeout: '2 minutes',
  // Safe to repeat: each is one conditional change. A database that is away comes back.
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

const CHUNKS = {
  allowEagerDispatch: false,
  // A chunk's turn ends after a minute at the latest; this covers a provider that takes ten minutes to answer a
  // message.
  startToCloseTimeout: '20 minutes',
  // How long a killed process goes unnoticed.
  heartbeatTimeout: '10 seconds',
  // Safe to repeat: rows are claimed, and completions fenced by the claim's number.
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  // A cancel waits until what was on the wire is recorded.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const;
const bulk = proxyActivities<CampaignChunkActivities>({ ...CHUNKS, taskQueue: TASK_QUEUES.bulk });
/** Chunks that wait for a send rate wait where nobody needs their places. */
const paced = proxyActivities<CampaignChunkActivities>({ ...CHUNKS, taskQueue: TASK_QUEUES.paced });

/**
 * The campaign's row has changed (rescheduled, cancelled, paused, resumed, released): read it again. May come twice,
 * early, or late.
 */
export const changedSignal = defineSignal('changed');

/**
 * Sends one start of a campaign: waits for its time, takes the audience into the ledger, sends it chunk by chunk while
 * the rest is taken, and marks it SENT. What happens to it is decided in the database by conditional updates; this only
 * walks along. Nothing here grows with the number of recipients but the count of chunks that the provider has put off.
 */
export async function campaignSend(input: CampaignInput): Promise<string> {
  const news = { changed: false };
  setHandler(changedSignal, () => {
    news.changed = true;
  });
  const progress: CampaignProgress = input.state ?? { ...NEW_CAMPAIGN, later: [] };
  const { projectId, campaignId, sendNo } = input;
  const start = { projectId, campaignId, sendNo };
  const standing = await awaitStart(start, news);
  if (!standing) return end(start);
  heedClock(progress, standing.clock);
  const audience = new Audience(start, progress);
  // What begins before the audience is whole is a matter of the answer: that of an earlier version has all of it taken
  // first.
  while (!progress.audienceDone && !audience.sendNow) {
    setCurrentDetails(`Taking the audience: ${progress.recipients} recipients so far`);
    if (!(await audience.takeMore())) return end(start);
  }
  let { rate, paused } = standing;
  for (;;) {
    const sending = new Sending({ start, progress, news, audience, rate, paused });
    const sent = await sending.run();
    ({ rate, paused } = sending);
    if (sent === 'continue') await continueAsNew<typeof campaignSend>({ ...start, state: progress });
    if (sent === 'ended') return end(start);
    const finish = await control.finishCampaignSend.executeWithOptions({ summary: 'mark it sent' }, [start]);
    if (finish.outcome === 'sent') return describeEnd(`Sent to ${progress.recipients} recipients`);
    if (finish.outcome === 'ended') return end(start);
    progress.later.push(...finish.openChunks.map(newChunk));
  }
}

type Start = Omit<CampaignInput, 'state'>;
interface News {
  changed: boolean;
}
/** Mails a second that the project may send, 0 for no limit. */
interface Standing {
  rate: number;
  /** Nothing leaves until it is resumed. */
  paused: boolean;
  /** Stands for the settings that decide when mail may leave; absent from the answers of earlier versions. */
  clock?: string | undefined;
}

/** Waits until the campaign is to be sent; undefined when it no longer is. */
async function awaitStart(start: Start, news: News): Promise<Standing | undefined> {
  for (;;) {
    news.changed = false;
    const state = await control.readCampaignStart.executeWithOptions({ summary: 'where the campaign stands' }, [start]);
    if (state.phase === 'ended') return undefined;
    // Earlier versions said nothing of the rate.
    if (state.phase !== 'waiting')
      return { rate: state.rate ?? 0, paused: state.phase === 'paused', clock: state.clock };
    setCurrentDetails(`Scheduled for ${state.scheduledAt}`);
    // At least a moment, should the clocks of worker and database differ.
    const waitMs = Math.max(100, Date.parse(state.scheduledAt) - Date.now());
    await condition(() => news.changed, waitMs, { summary: `until ${state.scheduledAt}` });
  }
}

/** Takes the audience, a part at a time. */
class Audience {
  sendNow = false;
  private readonly start: Start;
  private readonly progress: CampaignProgress;
  private round = 0;

  constructor(start: Start, progress: CampaignProgress) {
    this.start = start;
    this.progress = progress;
  }

  /** False when the campaign is no longer to be sent. */
  async takeMore(): Promise<boolean> {
    const { start, progress } = this;
    const input = { ...start, round: this.round++ };
    const taken = await bulk.takeCampaignAudience.executeWithOptions({ summary: 'take the audience' }, [input]);
    if (taken.outcome === 'ended') return false;
    progress.audienceDone = taken.done;
    progress.recipients = taken.recipients;
    learnOfTest(progress, taken);
    this.sendNow = taken.sendNow ?? false;
    return true;
  }
}

/**
 * Takes in what an activity says of the chunks and the test. Answers may overtake each other: chunks only become more,
 * and a test that is over stays so. Campaigns without a test say nothing of it.
 */
function learnOfTest(progress: CampaignProgress, said: { lastSeq: number; testing?: boolean }): void {
  progress.lastSeq = Math.max(progress.lastSeq, said.lastSeq);
  if (said.testing !== undefined && progress.testing !== false) progress.testing = said.testing;
}

/** What a cancelled start has left is skipped; one that went back to DRAFT has left nothing. */
async function end(start: Start): Promise<string> {
  setCurrentDetails('Cancelled: skipping whom it had not reached');
  const { skipped } = await control.skipCancelledRecipients.executeWithOptions({ summary: 'skip the rest' }, [start]);
  return describeEnd(`Ended before it was sent whole: ${skipped} recipients skipped`);
}

function describeEnd(text: string): string {
  setCurrentDetails(text);
  return text;
}

/** Of two times to wait, where there are any. */
function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

function newChunk(seq: number): LaterChunk {
  return { seq, dueAtMs: 0, deferredSinceMs: null, deferrals: 0 };
}

/** By other settings whoever waits for an hour or a window may go before, or has to wait longer. */
function heedClock(progress: CampaignProgress, clock: string | undefined): void {
  if (clock === undefined || clock === progress.clock) return;
  progress.clock = clock;
  for (const chunk of progress.later) if (chunk.shut) chunk.dueAtMs = 0;
}

/**
 * The lanes: as many chunks as may run at a time, the next one as soon as one is through, and the rest of the audience
 * beside them.
 */
class Sending {
  /** As last heard. */
  rate: number;
  paused: boolean;
  private readonly start: Start;
  private readonly progress: CampaignProgress;
  private readonly news: News;
  private readonly audience: Audience;
  private readonly running = new Map<number, LaterChunk>();
  /** Of the chunks under way: a pause takes them back, and the rest goes on. */
  private chunks = new CancellationScope();
  private taking = false;
  private held = false;
  private ended = false;
  private leaving = false;
  /** Milliseconds since 1970: until then the send rate has no room. */
  private pacedUntilMs = 0;
  private settled = 0;
  private readonly timer = new KeptTimer();
  private failure: unknown;

  constructor(p: { start: Start; progress: CampaignProgress; news: News; audience: Audience } & Standing) {
    this.start = p.start;
    this.progress = p.progress;
    this.news = p.news;
    this.audience = p.audience;
    this.rate = p.rate;
    this.paused = p.paused;
  }

  /**
   * `idle` when no chunk is left, `continue` when the history is long enough. Nothing runs any more when it returns.
   */
  async run(): Promise<'idle' | 'ended' | 'continue'> {
    const scope = new CancellationScope({ cancellable: true });
    const result = await scope.run(() => this.schedule());
    this.leaving = true;
    if (result === 'ended') scope.cancel();
    await condition(() => this.running.size === 0 && !this.taking);
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
      if (workflowInfo().continueAsNewSuggested) return 'continue';
      if (this.isTestDue()) {
        await this.judgeTest();
        continue;
      }
      this.fill();
      if (this.running.size === 0 && this.exhausted()) return 'idle';
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
    heedClock(this.progress, state.clock);
    if (state.test) learnOfTest(this.progress, state.test);
    if (!this.paused) return;
    this.chunks.cancel();
    this.chunks = new CancellationScope();
  }

  private fill(): void {
    while (!this.held && !this.paused && this.running.size < this.lanes() && this.pacedUntilMs <= Date.now()) {
      const chunk = this.next();
      if (!chunk) return;
      this.running.set(chunk.seq, chunk);
      void this.work(chunk);
    }
  }

  private lanes(): number {
    return this.rate > 0 ? Math.min(LANES, Math.ceil(this.rate / RATE_OF_LANE)) : LANES;
  }

  private next(): LaterChunk | undefined {
    const { progress } = this;
    const due = progress.later.findIndex((chunk) => chunk.dueAtMs <= Date.now());
    if (due >= 0) return progress.later.splice(due, 1)[0];
    return progress.nextSeq <= progress.lastSeq ? newChunk(progress.nextSeq++) : undefined;
  }

  private exhausted(): boolean {
    const { audienceDone, later, nextSeq, lastSeq, testing } = this.progress;
    return audienceDone && later.length === 0 && nextSeq > lastSeq && testing !== true;
  }

  /**
   * The wait begins when every chunk had its turn: it does not wait for mails that the provider puts off, for up to a
   * day.
   */
  private isTestDue(): boolean {
    const { audienceDone, later, nextSeq, lastSeq, testing, testEndsAtMs } = this.progress;
    if (testing !== true || this.paused) return false;
    if (testEndsAtMs !== undefined) return testEndsAtMs <= Date.now();
    const tried = later.every((chunk) => chunk.deferredSinceMs !== null);
    return audienceDone && nextSeq > lastSeq && tried && this.running.size === 0;
  }

  private async judgeTest(): Promise<void> {
    const { progress } = this;
    const standing = await control.judgeCampaignTest.executeWithOptions({ summary: 'judge the test' }, [this.start]);
    switch (standing.outcome) {
      case 'waiting':
        // At least a moment, should the clocks of worker and database differ.
        progress.testEndsAtMs = Math.max(Date.parse(standing.endsAt), Date.now() + 100);
        return;
      case 'paused':
        this.news.changed = true;
        return;
      case 'decided':
        learnOfTest(progress, { lastSeq: standing.lastSeq, testing: false });
        return;
      case 'ended':
        this.ended = true;
    }
  }

  /** Until a chunk is through, something has changed, or a chunk that was put off comes due. */
  private async pause(): Promise<void> {
    const seen = this.settled;
    const awake = () => this.settled !== seen || this.news.changed;
    // However long: the signal of a resume is as durable as the pause.
    if (this.paused) return condition(awake);
    const waitMs = earlier(this.held ? HELD_RECHECK_MS : this.untilDue(), this.untilTestEnds());
    if (waitMs === undefined) return condition(awake);
    const summary = this.waitsFor(waitMs);
    const woken = patched(ONE_TIMER)
      ? await this.timer.wait(awake, Date.now() + waitMs, summary)
      : await condition(awake, Math.max(1, waitMs), { summary });
    if (!woken && this.held) this.held = false;
  }

  /** What the chunk waits for that comes due next. */
  private nextDue(): string {
    const [next] = [...this.progress.later].sort((a, b) => a.dueAtMs - b.dueAtMs);
    return next?.shut
      ? `until ${new Date(next.dueAtMs).toISOString()}, by the clocks of recipients`
      : 'put off by the provider';
  }

  private waitsFor(waitMs: number): string {
    if (waitMs === this.untilTestEnds()) return 'until the test is judged';
    if (this.held) return 'on hold';
    return this.pacedUntilMs > Date.now() ? 'no room in the send rate' : this.nextDue();
  }

  private untilTestEnds(): number | undefined {
    const { testing, testEndsAtMs } = this.progress;
    return testing === true && testEndsAtMs !== undefined ? testEndsAtMs - Date.now() : undefined;
  }

  private untilDue(): number | undefined {
    if (this.running.size >= this.lanes()) return undefined;
    const { later, nextSeq, lastSeq } = this.progress;
    const now = Date.now();
    if (this.pacedUntilMs > now && (later.length > 0 || nextSeq <= lastSeq)) return this.pacedUntilMs - now;
    return later.length === 0 ? undefined : Math.min(...later.map((chunk) => chunk.dueAtMs)) - now;
  }

  private async work(chunk: LaterChunk): Promise<void> {
    try {
      this.settle(chunk, await this.chunks.run(() => this.send(chunk)));
    } catch (error) {
      this.progress.later.push(chunk);
      if (!isCancellation(error)) this.failure = error;
    } finally {
      this.running.delete(chunk.seq);
      this.settled += 1;
    }
  }

  private send(chunk: LaterChunk): Promise<ChunkResult> {
    const expired = chunk.deferredSinceMs !== null && Date.now() - chunk.deferredSinceMs >= DELIVERY_EXPIRES_MS;
    const { seq, deferrals, from, putOff } = chunk;
    const input = { ...this.start, seq, deferrals, from, putOff, paced: this.rate > 0 };
    if (expired) return bulk.expireCampaignChunk.executeWithOptions({ summary: `give up chunk ${seq}` }, [input]);
    const queue = this.rate > 0 ? paced : bulk;
    return queue.sendCampaignChunk.executeWithOptions({ summary: `chunk ${seq}` }, [input]);
  }

  private settle(chunk: LaterChunk, result: ChunkResult): void {
    this.rate = result.rate ?? this.rate;
    // `deferrals` counts those in a row, so what an earlier version's result says stays as it was.
    const before = result.fresh ? { ...chunk, deferredSinceMs: null, deferrals: 0 } : chunk;
    const { from, putOff } = result;
    const again = (change: Partial<LaterChunk>) =>
      this.progress.later.push({ ...before, from, putOff, shut: undefined, ...change });
    switch (result.outcome) {
      case 'done':
        return;
      case 'more':
        again({ dueAtMs: 0 });
        return;
      case 'paced':
        this.pacedUntilMs = Math.max(this.pacedUntilMs, Date.now() + result.retryAfterMs);
        again({ dueAtMs: 0 });
        return;
      case 'deferred':
        again({
          dueAtMs: Date.now() + result.retryAfterMs,
          deferredSinceMs: before.deferredSinceMs ?? Date.now(),
          deferrals: before.deferrals + 1,
        });
        return;
      case 'shut':
        this.waitForHour(result, again);
        return;
      case 'held':
        this.held = true;
        again({ dueAtMs: 0 });
        return;
      case 'paused':
        // Or it was, when the chunk looked: what it is now is read again.
        this.news.changed = true;
        again({ dueAtMs: 0 });
        return;
      case 'ended':
        this.ended = true;
        return;
    }
  }

  /** Chunks of a zone wait until the same instant, which is one timer. */
  private waitForHour({ notBeforeMs = 0, clock }: ChunkResult, again: (change: Partial<LaterChunk>) => void): void {
    // The settings have changed since it looked, or before this workflow has heard of it.
    const changed = clock !== this.progress.clock;
    if (changed) this.news.changed = true;
    const soonestMs = Date.now() + CLOCK_RECHECK_MS;
    again({ dueAtMs: changed ? soonestMs : Math.max(notBeforeMs, soonestMs), shut: true });
  }

  private describe(): string {
    const { nextSeq, lastSeq, later, recipients } = this.progress;
    const through = nextSeq - 1 - later.length - this.running.size;
    const parts = [
      `Sending to ${recipients} recipients: ${through} of ${lastSeq} chunks through, ${this.running.size} in work`,
    ];
    if (!this.progress.audienceDone) parts.push('more are being taken');
    if (this.rate > 0) parts.push(`at most ${this.rate} a second`);
    if (later.length > 0) parts.push(`${later.length} to go on with`);
    if (this.held) parts.push('the project is on hold');
    if (this.paused) parts.push('the campaign is paused');
    if (this.progress.testing) parts.push('the rest waits for the winner of the test');
    return parts.join(', ');
  }
}
