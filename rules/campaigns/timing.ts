import type { SendingWindow } from '../time/sending-window.ts';

/** Policy for a recipient whose local time is over: send at once, or skip (`too_late`). */
export const LATE_POLICIES = ['SEND', 'SKIP'] as const;
export type LatePolicy = (typeof LATE_POLICIES)[number];

/** The author's settings for when a campaign may be sent. */
export interface CampaignTiming {
  /**
   * The campaign's own window. Null: no window, whatever the project sets. Undefined: the project's window at the time
   * of sending.
   */
  sendingWindow: SendingWindow | null | undefined;
  /** `YYYY-MM-DDTHH:MM` in each recipient's local time. Null sends as soon as possible. */
  sendAtLocal: string | null;
  latePolicy: LatePolicy;
}

/** Sends at any time. */
export const NO_TIMING: CampaignTiming = { sendingWindow: undefined, sendAtLocal: null, latePolicy: 'SEND' };
