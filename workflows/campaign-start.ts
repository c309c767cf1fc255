import { condition, setCurrentDetails } from '@temporalio/workflow';
import type { CampaignInput } from '../rules/campaigns/campaign.ts';
import { controlActivities } from './campaign-activities.ts';
import type { RunLength } from './run-length.ts';

export type CampaignRunInput = Omit<CampaignInput, 'state'>;

/**
 * The `changed` signals that the workflow has received. `changed` is true if a signal has arrived that the workflow has
 * not handled yet.
 */
export interface CampaignSignals {
  changed: boolean;
  /** Counts the signals. */
  length: RunLength;
}

/**
 * The state of the campaign when sending starts. `rate` is the number of emails a second that the project may send; 0
 * means no limit.
 */
export interface StartPosition {
  rate: number;
  /** Whether the campaign is paused, so that nothing is sent until a user resumes it. */
  paused: boolean;
  /** Identifies the settings that decide when email may be sent. Absent from results of earlier releases. */
  clock?: string | undefined;
}

/**
 * Waits until the campaign's start time, and returns the state in which sending starts. Returns `ended` when the
 * campaign should no longer be sent, and `continue` when the workflow should continue as new.
 */
export async function awaitStart(
  start: CampaignRunInput,
  signals: CampaignSignals,
): Promise<StartPosition | 'ended' | 'continue'> {
  for (;;) {
    if (signals.length.shouldStartNewRunWhileWaiting()) return 'continue';
    signals.changed = false;
    const state = await controlActivities.readCampaignStart.executeWithOptions(
      { summary: 'read the state of the campaign' },
      [start],
    );
    if (state.phase === 'ended') return 'ended';
    // Activities of earlier releases did not report the rate.
    if (state.phase !== 'waiting')
      return { rate: state.rate ?? 0, paused: state.phase === 'paused', clock: state.clock };
    setCurrentDetails(`Scheduled for ${state.scheduledAt}`);
    // Waits at least 100 ms, because the time of the worker and the time of the database may differ.
    const waitMs = Math.max(100, Date.parse(state.scheduledAt) - Date.now());
    await condition(() => signals.changed, waitMs, { summary: `until ${state.scheduledAt}` });
  }
}
