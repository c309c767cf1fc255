import type { CampaignProgress, DueChunks, LaterChunk } from '../rules/campaigns/campaign.ts';
import { CLOCK_RECHECK_MS, newChunk } from '../rules/campaigns/later-chunk.ts';

/** Takes the chunk that is to be worked on next out of the progress: one that is due again, else a new one. */
export function takeNextChunk(progress: CampaignProgress): LaterChunk | undefined {
  const due = progress.later.findIndex((chunk) => chunk.dueAtMs <= Date.now());
  if (due >= 0) return progress.later.splice(due, 1)[0];
  return hasNewChunks(progress) ? newChunk(progress.nextSeq++) : undefined;
}

/** Some chunk had no turn yet. */
export function hasNewChunks({ nextSeq, lastSeq }: CampaignProgress): boolean {
  return nextSeq <= lastSeq;
}

/** No chunk is left to begin, now or later. */
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
 * Takes in which chunks are due, and which still wait. `arrived` are those that began to wait since the workflow asked:
 * the answer lacks them, because their turn was under way.
 */
export function takeDueChunks(progress: CampaignProgress, answer: DueChunks, arrived: LaterChunk[]): void {
  progress.later.push(...answer.due);
  progress.waiting = answer.waiting ?? undefined;
  // A database whose clock is behind Temporal's finds nothing due yet.
  if (progress.waiting && answer.due.length === 0)
    progress.waiting.dueAtMs = Math.max(progress.waiting.dueAtMs, Date.now() + CLOCK_RECHECK_MS);
  for (const chunk of arrived) noteWaiting(progress, chunk);
}

/** Tells whether to ask Postgres for chunks: the first that waits there is due, and the workflow has none at hand. */
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

/** How many chunks had a turn and need another. */
export function countLater({ later, waiting }: CampaignProgress): number {
  return later.length + (waiting?.chunks ?? 0);
}

/**
 * Takes in what an activity says of the chunks and the test. Answers may overtake each other: chunks only become more,
 * and a test that is over stays so. Campaigns without a test say nothing of it.
 */
export function learnOfTest(progress: CampaignProgress, said: { lastSeq: number; testing?: boolean }): void {
  progress.lastSeq = Math.max(progress.lastSeq, said.lastSeq);
  if (said.testing !== undefined && progress.testing !== false) progress.testing = said.testing;
}

/** By other settings whoever waits for an hour or a window may go before, or has to wait longer. */
export function applyClockChange(progress: CampaignProgress, clock: string | undefined): void {
  if (clock === undefined || clock === progress.clock) return;
  progress.clock = clock;
  for (const chunk of progress.later) if (chunk.shut) chunk.dueAtMs = 0;
  if (progress.waiting) progress.waiting.dueAtMs = 0;
}
