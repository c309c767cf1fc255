import type { CampaignProgress, DueChunks, LaterChunk } from '../rules/campaigns/campaign.ts';
import { CLOCK_RECHECK_MS, newChunk } from '../rules/campaigns/later-chunk.ts';

/** Takes the next chunk to work on out of the progress: one that is due again, else a new one. */
export function takeNextChunk(progress: CampaignProgress): LaterChunk | undefined {
  const due = progress.later.findIndex((chunk) => chunk.dueAtMs <= Date.now());
  if (due >= 0) return progress.later.splice(due, 1)[0];
  return hasNewChunks(progress) ? newChunk(progress.nextSeq++) : undefined;
}

/** Tells whether a chunk has had no turn yet. */
export function hasNewChunks({ nextSeq, lastSeq }: CampaignProgress): boolean {
  return nextSeq <= lastSeq;
}

/** Tells whether no chunk is left to start, now or later. */
export function isExhausted(progress: CampaignProgress): boolean {
  const { audienceDone, later, waiting, testing } = progress;
  return audienceDone && later.length === 0 && !waiting && !hasNewChunks(progress) && testing !== true;
}

/** Adds a chunk that waits in Postgres to the summary. */
export function noteWaiting(progress: CampaignProgress, chunk: LaterChunk): void {
  const { waiting } = progress;
  const first = !waiting || chunk.dueAtMs < waiting.dueAtMs;
  progress.waiting = {
    dueAtMs: first ? chunk.dueAtMs : waiting.dueAtMs,
    shut: first ? chunk.shut === true : waiting.shut,
    chunks: (waiting?.chunks ?? 0) + 1,
    untried: (waiting?.untried ?? 0) + (chunk.deferredSinceMs === null ? 1 : 0),
  };
}

/**
 * Adds the due chunks, and the summary of the waiting ones. `arrived` lists chunks that started to wait after the
 * workflow asked; the result lacks them, because their turns were running.
 */
export function takeDueChunks(progress: CampaignProgress, answer: DueChunks, arrived: LaterChunk[]): void {
  progress.later.push(...answer.due);
  progress.waiting = answer.waiting ?? undefined;
  // If the database's clock is behind Temporal's clock, no chunk is due in Postgres yet, so check again soon.
  if (progress.waiting && answer.due.length === 0)
    progress.waiting.dueAtMs = Math.max(progress.waiting.dueAtMs, Date.now() + CLOCK_RECHECK_MS);
  for (const chunk of arrived) noteWaiting(progress, chunk);
}

/** Tells whether to ask Postgres for chunks: the first one there is due, and the workflow has none in memory. */
export function shouldReadDueChunks({ later, waiting }: CampaignProgress): boolean {
  const now = Date.now();
  return waiting !== undefined && waiting.dueAtMs <= now && later.every((chunk) => chunk.dueAtMs > now);
}

/** Returns when the next chunk is due, in milliseconds since 1970; undefined if none waits. */
export function nextDueAt({ later, waiting }: CampaignProgress): number | undefined {
  const instants = later.map((chunk) => chunk.dueAtMs);
  if (waiting) instants.push(waiting.dueAtMs);
  return instants.length === 0 ? undefined : Math.min(...instants);
}

/** Counts the chunks that had a turn and need another. */
export function countLater({ later, waiting }: CampaignProgress): number {
  return later.length + (waiting?.chunks ?? 0);
}

/**
 * Adds an activity's report about the chunks and the test. Reports may arrive in any order: chunks only become more,
 * and a test that is over stays over. Reports of campaigns without a test do not mention one.
 */
export function learnOfTest(progress: CampaignProgress, said: { lastSeq: number; testing?: boolean }): void {
  progress.lastSeq = Math.max(progress.lastSeq, said.lastSeq);
  if (said.testing !== undefined && progress.testing !== false) progress.testing = said.testing;
}

/** Changed settings may let a chunk that waits for an hour or a window start earlier, or make it wait longer. */
export function applyClockChange(progress: CampaignProgress, clock: string | undefined): void {
  if (clock === undefined || clock === progress.clock) return;
  progress.clock = clock;
  for (const chunk of progress.later) if (chunk.shut) chunk.dueAtMs = 0;
  if (progress.waiting) progress.waiting.dueAtMs = 0;
}
