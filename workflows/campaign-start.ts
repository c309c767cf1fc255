import { condition, setCurrentDetails } from '@temporalio/workflow';
import type { CampaignInput } from '../rules/campaigns/campaign.ts';
import { control } from './campaign-activities.ts';
import type { RunLength } from './run-length.ts';

export type Start = Omit<CampaignInput, 'state'>;

/** What the `changed` signal leaves for whoever looks next. */
export interface News {
  changed: boolean;
  /** Counts the signals. */
  length: RunLength;
}

/** Mails a second that the project may send, 0 for no limit. */
export interface StartPosition {
  rate: number;
  /** Nothing leaves until it is resumed. */
  paused: boolean;
  /** Stands for the settings that decide when mail may leave; absent from the answers of earlier versions. */
  clock?: string | undefined;
}

/**
 * Waits until the campaign is to be sent. Returns `ended` when it no longer is, and `continue` when the history is long
 * enough.
 */
export async function awaitStart(start: Start, news: News): Promise<StartPosition | 'ended' | 'continue'> {
  for (;;) {
    if (news.length.shouldStopWaiting()) return 'continue';
    news.changed = false;
    const state = await control.readCampaignStart.executeWithOptions({ summary: 'where the campaign stands' }, [start]);
    if (state.phase === 'ended') return 'ended';
    // Earlier versions said nothing of the rate.
    if (state.phase !== 'waiting')
      return { rate: state.rate ?? 0, paused: state.phase === 'paused', clock: state.clock };
    setCurrentDetails(`Scheduled for ${state.scheduledAt}`);
    // At least a moment, should the clocks of worker and database differ.
    const waitMs = Math.max(100, Date.parse(state.scheduledAt) - Date.now());
    await condition(() => news.changed, waitMs, { summary: `until ${state.scheduledAt}` });
  }
}
