import { condition, setCurrentDetails } from '@temporalio/workflow';
import type { CampaignInput } from '../rules/campaigns/campaign.ts';
import { control } from './campaign-activities.ts';
import type { RunLength } from './run-length.ts';

export type CampaignRunInput = Omit<CampaignInput, 'state'>;

/** The state that the `changed` signal leaves for the next check. */
export interface News {
  changed: boolean;
  /** Counts the signals. */
  length: RunLength;
}

/** `rate` is the number of emails a second that the project may send; 0 means no limit. */
export interface StartPosition {
  rate: number;
  /** Nothing is sent until it is resumed. */
  paused: boolean;
  /** Identifies the settings that decide when email may be sent; absent from results of earlier versions. */
  clock?: string | undefined;
}

/**
 * Waits until the campaign is due. Returns `ended` when it should no longer be sent, and `continue` when the history is
 * long enough.
 */
export async function awaitStart(start: CampaignRunInput, news: News): Promise<StartPosition | 'ended' | 'continue'> {
  for (;;) {
    if (news.length.shouldStopWaiting()) return 'continue';
    news.changed = false;
    const state = await control.readCampaignStart.executeWithOptions({ summary: 'position of the campaign' }, [start]);
    if (state.phase === 'ended') return 'ended';
    // Earlier versions did not report the rate.
    if (state.phase !== 'waiting')
      return { rate: state.rate ?? 0, paused: state.phase === 'paused', clock: state.clock };
    setCurrentDetails(`Scheduled for ${state.scheduledAt}`);
    // Waits at least a moment, in case the times of worker and database differ.
    const waitMs = Math.max(100, Date.parse(state.scheduledAt) - Date.now());
    await condition(() => news.changed, waitMs, { summary: `until ${state.scheduledAt}` });
  }
}
