import type { CampaignProgress, ChunkState, DueChunks } from '../rules/campaigns/campaign.ts';
import { CLOCK_RECHECK_MS, newChunk } from '../rules/campaigns/chunk-state.ts';

/**
 * Removes the next chunk to send from the progress and returns it: a chunk that is due again and not in `except`, else
 * a new one.
 */
export function takeNextChunk(progress: CampaignProgress, except: ReadonlySet<number>): ChunkState | undefined {
  const due = progress.later.findIndex((chunk) => chunk.dueAtMs <= Date.now() && !except.has(chunk.seq));
  if (due >= 0) return progress.later.splice(due, 1)[0];
  return hasNewChunks(progress) ? newChunk(progress.nextSeq++) : undefined;
}

/** Tells whether there are chunks that have had no turn yet. */
export function hasNewChunks({ nextSeq, lastSeq }: CampaignProgress): boolean {
  return nextSeq <= lastSeq;
}

/** Tells whether no chunk is left to start, now or later. */
export function isExhausted(progress: CampaignProgress): boolean {
  const { audienceDone, later, waiting, testing } = progress;
  return audienceDone && later.length === 0 && !waiting && !hasNewChunks(progress) && testing !== true;
}

/** Adds a chunk that waits in Postgres to the summary of waiting chunks. */
export function addWaiting(progress: CampaignProgress, chunk: ChunkState): void {
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
 * Adds the due chunks that Postgres returned, and the summary of the waiting ones. The result lacks the chunks of
 * `newlyWaiting`, whose turns were still running when the workflow asked.
 */
export function takeDueChunks(progress: CampaignProgress, result: DueChunks, newlyWaiting: ChunkState[]): void {
  progress.later.push(...result.due);
  progress.waiting = result.waiting ?? undefined;
  // The database's clock may be behind Temporal's clock. Then no chunk is due in Postgres yet, so check again soon.
  if (progress.waiting && result.due.length === 0)
    progress.waiting.dueAtMs = Math.max(progress.waiting.dueAtMs, Date.now() + CLOCK_RECHECK_MS);
  for (const chunk of newlyWaiting) addWaiting(progress, chunk);
}

/**
 * Tells whether to ask Postgres for chunks: the first one there is due, and the workflow has no due chunk in memory.
 */
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
export function countUnfinished({ later, waiting }: CampaignProgress): number {
  return later.length + (waiting?.chunks ?? 0);
}

/**
 * Merges an activity's report about the chunks and the test into the progress. Reports may arrive in any order: the number of chunks only
 * grows, and a test that is over stays over. `testing` is undefined for campaigns without a test.
 */
export function mergeReport(progress: CampaignProgress, report: { lastSeq: number; testing?: boolean }): void {
  progress.lastSeq = Math.max(progress.lastSeq, report.lastSeq);
  if (report.testing !== undefined && progress.testing !== false) progress.testing = report.testing;
}

/**
 * Makes chunks that wait for a local send time or a sending window due now, when the settings that decide these times
 * have changed. Each chunk then checks its time again.
 */
export function applyClockChange(progress: CampaignProgress, clock: string | undefined): void {
  if (clock === undefined || clock === progress.clock) return;
  progress.clock = clock;
  for (const chunk of progress.later) if (chunk.shut) chunk.dueAtMs = 0;
  if (progress.waiting) progress.waiting.dueAtMs = 0;
}
