import type { CampaignProgress, ChunkState, DueChunks } from '../rules/campaigns/campaign.ts';
import { CLOCK_RECHECK_MS, createChunkState } from '../rules/campaigns/chunk-state.ts';

/**
 * Removes the next chunk to send from the progress, and returns it. Prefers a chunk that is due again and not in
 * `except`; otherwise returns a chunk that had no turn yet.
 */
export function takeNextChunk(progress: CampaignProgress, except: ReadonlySet<number>): ChunkState | undefined {
  const due = progress.later.findIndex((chunk) => chunk.dueAtMs <= Date.now() && !except.has(chunk.seq));
  if (due >= 0) return progress.later.splice(due, 1)[0];
  return hasNewChunks(progress) ? createChunkState(progress.nextSeq++) : undefined;
}

/** Tells whether there are chunks that the workflow has not started yet. */
export function hasNewChunks({ nextSeq, lastSeq }: CampaignProgress): boolean {
  return nextSeq <= lastSeq;
}

/**
 * Tells whether the workflow has no further chunk to start: the audience is complete, every chunk is finished or
 * running, and no recipient waits for the winner of a test.
 */
export function isExhausted(progress: CampaignProgress): boolean {
  const { audienceDone, later, waiting, testing } = progress;
  return audienceDone && later.length === 0 && !waiting && !hasNewChunks(progress) && testing !== true;
}

/** Adds a chunk that waits in Postgres to the summary of waiting chunks (`progress.waiting`). */
export function addWaitingChunk(progress: CampaignProgress, chunk: ChunkState): void {
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
 * Adds the due chunks that Postgres returned to the progress, and replaces the summary of the waiting chunks. The
 * returned summary does not contain the chunks in `newlyWaiting`, because their turns were still running when the
 * workflow asked Postgres.
 */
export function addDueChunks(progress: CampaignProgress, result: DueChunks, newlyWaiting: ChunkState[]): void {
  progress.later.push(...result.due);
  progress.waiting = result.waiting ?? undefined;
  // If Postgres's clock is behind Temporal's clock, Postgres considers no chunk due yet. The workflow then checks again
  // soon.
  if (progress.waiting && result.due.length === 0)
    progress.waiting.dueAtMs = Math.max(progress.waiting.dueAtMs, Date.now() + CLOCK_RECHECK_MS);
  for (const chunk of newlyWaiting) addWaitingChunk(progress, chunk);
}

/**
 * Tells whether to read due chunks from Postgres: the first waiting chunk in Postgres is due, and the workflow has no
 * due chunk in memory.
 */
export function shouldReadDueChunks({ later, waiting }: CampaignProgress): boolean {
  const now = Date.now();
  return waiting !== undefined && waiting.dueAtMs <= now && later.every((chunk) => chunk.dueAtMs > now);
}

/** Returns when the next waiting chunk is due, in milliseconds since 1970. Undefined if no chunk waits. */
export function findNextDueMs({ later, waiting }: CampaignProgress): number | undefined {
  const instants = later.map((chunk) => chunk.dueAtMs);
  if (waiting) instants.push(waiting.dueAtMs);
  return instants.length === 0 ? undefined : Math.min(...instants);
}

/** Returns the number of chunks that had a turn and need another turn. */
export function countChunksToResume({ later, waiting }: CampaignProgress): number {
  return later.length + (waiting?.chunks ?? 0);
}

/**
 * Adds an activity's report about the number of chunks and the state of the test to the progress. Reports may arrive in
 * any order. An older report does no harm, because the number of chunks only grows and a test that is over does not
 * start again. `testing` is undefined for campaigns without a test.
 */
export function mergeReport(progress: CampaignProgress, report: { lastSeq: number; testing?: boolean }): void {
  progress.lastSeq = Math.max(progress.lastSeq, report.lastSeq);
  if (report.testing !== undefined && progress.testing !== false) progress.testing = report.testing;
}

/**
 * Stores `clock`, which identifies the settings that decide when email may be sent. If these settings have changed,
 * chunks in memory that wait for a local send time or a sending window become due. The workflow also reads the chunks
 * in Postgres again. The turn of each of these chunks then checks the new settings.
 */
export function applyClockChange(progress: CampaignProgress, clock: string | undefined): void {
  if (clock === undefined || clock === progress.clock) return;
  progress.clock = clock;
  for (const chunk of progress.later) if (chunk.shut) chunk.dueAtMs = 0;
  if (progress.waiting) progress.waiting.dueAtMs = 0;
}
