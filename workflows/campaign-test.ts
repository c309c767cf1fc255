import type { CampaignProgress } from '../rules/campaigns/campaign.ts';
import { control } from './campaign-activities.ts';
import { hasNewChunks, learnOfTest } from './campaign-progress.ts';
import type { CampaignRunInput } from './campaign-start.ts';

/**
 * Tells whether the winner of the campaign's test should be chosen now. `running` is the number of running chunks. The
 * wait starts when every chunk has had a turn; it does not wait for emails that the provider defers for up to a day.
 */
export function isTestDue(progress: CampaignProgress, running: number): boolean {
  const { audienceDone, later, waiting, testing, testEndsAtMs } = progress;
  if (testing !== true) return false;
  if (testEndsAtMs !== undefined) return testEndsAtMs <= Date.now();
  const tried = later.every((chunk) => chunk.deferredSinceMs !== null) && !waiting?.untried;
  return audienceDone && !hasNewChunks(progress) && tried && running === 0;
}

/**
 * Milliseconds until the winner is chosen; undefined when no recipient waits for it, or while the test share is still
 * being sent.
 */
export function msUntilTestEnds({ testing, testEndsAtMs }: CampaignProgress): number | undefined {
  return testing === true && testEndsAtMs !== undefined ? testEndsAtMs - Date.now() : undefined;
}

/** The state of a test; `paused` and `ended` describe the campaign instead. */
export type TestOutcome = 'waiting' | 'decided' | 'paused' | 'ended';

/** Asks for the winner and adds the result to the progress. */
export async function judgeTest(start: CampaignRunInput, progress: CampaignProgress): Promise<TestOutcome> {
  const standing = await control.judgeCampaignTest.executeWithOptions({ summary: 'choose the winner of the test' }, [
    start,
  ]);
  // Waits at least a moment, in case the times of worker and database differ.
  if (standing.outcome === 'waiting') progress.testEndsAtMs = Math.max(Date.parse(standing.endsAt), Date.now() + 100);
  if (standing.outcome === 'decided') learnOfTest(progress, { lastSeq: standing.lastSeq, testing: false });
  return standing.outcome;
}
