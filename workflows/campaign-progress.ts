import type { CampaignProgress, LaterChunk } from '../rules/campaigns/campaign.ts';

/** A chunk that nobody has worked on. */
export function newChunk(seq: number): LaterChunk {
  return { seq, dueAtMs: 0, deferredSinceMs: null, deferrals: 0 };
}

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
  const { audienceDone, later, testing } = progress;
  return audienceDone && later.length === 0 && !hasNewChunks(progress) && testing !== true;
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
export function heedClock(progress: CampaignProgress, clock: string | undefined): void {
  if (clock === undefined || clock === progress.clock) return;
  progress.clock = clock;
  for (const chunk of progress.later) if (chunk.shut) chunk.dueAtMs = 0;
}
