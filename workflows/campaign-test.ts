import type { CampaignProgress } from '../rules/campaigns/campaign.ts';
import { controlActivities } from './campaign-activities.ts';
import { hasNewChunks, mergeReport } from './campaign-progress.ts';
import type { CampaignRunInput } from './campaign-start.ts';

/**
 * Tells whether the workflow should call `advanceTest` now: to start the waiting time of the test, or to choose the
 * winner after that time. The waiting time starts when every chunk is finished or waits only because the provider
 * deferred some of its emails. Deferred emails do not delay the waiting time, because a provider may defer emails for
 * up to a day. `running` is the number of running chunks.
 */
export function isTestDue(progress: CampaignProgress, running: number): boolean {
  const { audienceDone, later, waiting, testing, testEndsAtMs } = progress;
  if (testing !== true) return false;
  if (testEndsAtMs !== undefined) return testEndsAtMs <= Date.now();
  const hadTurn = later.every((chunk) => chunk.deferredSinceMs !== null) && !waiting?.untried;
  return audienceDone && !hasNewChunks(progress) && hadTurn && running === 0;
}

/**
 * Returns the milliseconds until the winner is chosen. Undefined if no recipient waits for a winner, or if the share of
 * the test is still being sent.
 */
export function computeMsUntilWinner({ testing, testEndsAtMs }: CampaignProgress): number | undefined {
  return testing === true && testEndsAtMs !== undefined ? testEndsAtMs - Date.now() : undefined;
}

/**
 * The state of the test after a check. `waiting`: the winner is not chosen yet. `decided`: the winner is chosen.
 * `paused` and `ended` mean that the campaign is paused or has ended.
 */
export type TestOutcome = 'waiting' | 'decided' | 'paused' | 'ended';

/**
 * Calls the activity that starts the waiting time of the test or chooses the winner, and adds the result to the
 * progress.
 */
export async function advanceTest(start: CampaignRunInput, progress: CampaignProgress): Promise<TestOutcome> {
  const result = await controlActivities.judgeCampaignTest.executeWithOptions(
    { summary: 'choose the winner of the test' },
    [start],
  );
  // The workflow asks again after at least 100 ms, because the worker's clock may be ahead of the database's clock.
  if (result.outcome === 'waiting') progress.testEndsAtMs = Math.max(Date.parse(result.endsAt), Date.now() + 100);
  if (result.outcome === 'decided') mergeReport(progress, { lastSeq: result.lastSeq, testing: false });
  return result.outcome;
}
