import type { SendingWindow } from '../time/sending-window.ts';

/** What happens to a recipient whose hour is over: the mail leaves at once, or not at all (`too_late`). */
export const LATE_POLICIES = ['SEND', 'SKIP'] as const;
export type LatePolicy = (typeof LATE_POLICIES)[number];

/** When a campaign may reach its recipients, as its author says it. */
export interface CampaignTiming {
  /**
   * Its own; null: none holds it, whatever the project says; undefined: that of the project, as it is at the moment.
   */
  sendingWindow: SendingWindow | null | undefined;
  /** `YYYY-MM-DDTHH:MM` by each recipient's own clocks; null for whoever comes next. */
  sendAtLocal: string | null;
  latePolicy: LatePolicy;
}

/** At any time. */
export const NO_TIMING: CampaignTiming = { sendingWindow: undefined, sendAtLocal: null, latePolicy: 'SEND' };
