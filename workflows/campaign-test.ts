import type { CampaignProgress } from '../rules/campaigns/campaign.ts';
import { control } from './campaign-activities.ts';
import { hasNewChunks, learnOfTest } from './campaign-progress.ts';
import type { Start } from './campaign-start.ts';

/**
 * The test of a campaign is to be judged now; `running` is the number of chunks under way. Its wait begins when every
 * chunk had its turn: it does not wait for mails that the provider puts off, for up to a day.
 */
export function isTestDue(progress: CampaignProgress, running: number): boolean {
  const { audienceDone, later, waiting, testing, testEndsAtMs } = progress;
  if (testing !== true) return false;
  if (testEndsAtMs !== undefined) return testEndsAtMs <= Date.now();
  const tried = later.every((chunk) => chunk.deferredSinceMs !== null) && !waiting?.untried;
  return audienceDone && !hasNewChunks(progress) && tried && running === 0;
}

/** Milliseconds until the test is judged; undefined where nobody waits for it, or its share is still being sent. */
export function untilTestEnds({ testing, testEndsAtMs }: CampaignProgress): number | undefined {
  return testing === true && testEndsAtMs !== undefined ? testEndsAtMs - Date.now() : undefined;
}

/** Where a test stands; `paused` and `ended` are what the campaign is instead. */
export type TestOutcome = 'waiting' | 'decided' | 'paused' | 'ended';

/** Asks for the winner, and takes in what is said. */
export async function judgeTest(start: Start, progress: CampaignProgress): Promise<TestOutcome> {
  const standing = await control.judgeCampaignTest.executeWithOptions({ summary: 'judge the test' }, [start]);
  // At least a moment, should the clocks of worker and database differ.
  if (standing.outcome === 'waiting') progress.testEndsAtMs = Math.max(Date.parse(standing.endsAt), Date.now() + 100);
  if (standing.outcome === 'decided') learnOfTest(progress, { lastSeq: standing.lastSeq, testing: false });
  return standing.outcome;
}
