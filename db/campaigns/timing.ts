import type { CampaignTiming, LatePolicy } from '../../rules/campaigns/timing.ts';
import type { SendingWindow } from '../../rules/time/sending-window.ts';

/** Columns of a campaign's sending window and of its policy for recipients whose local time has passed. */
export const WINDOW_COLUMN_NAMES = ['own_window', 'sending_window', 'late_policy'] as const;

/** Returns a campaign's timing as columns of its row. */
export function toTimingColumns({ sendingWindow, sendAtLocal, latePolicy }: CampaignTiming) {
  return {
    own_window: sendingWindow !== undefined,
    sending_window: sendingWindow ? JSON.stringify(sendingWindow) : null,
    send_at_local: sendAtLocal,
    late_policy: latePolicy,
  };
}

export interface TimingRow {
  own_window: boolean;
  sending_window: SendingWindow | null;
  send_at_local: string | null;
  late_policy: LatePolicy;
}

export function toTiming(row: TimingRow): CampaignTiming {
  return {
    sendingWindow: row.own_window ? row.sending_window : undefined,
    sendAtLocal: row.send_at_local,
    latePolicy: row.late_policy,
  };
}
