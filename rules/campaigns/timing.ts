import type { SendingWindow } from '../time/sending-window.ts';

/**
 * The policy for a recipient whose local send time has passed: send the email at once, or skip the recipient with the
 * reason `too_late`.
 */
export const LATE_POLICIES = ['SEND', 'SKIP'] as const;
export type LatePolicy = (typeof LATE_POLICIES)[number];

/** The author's settings for when a campaign may be sent. */
export interface CampaignTiming {
  /**
   * The campaign's sending window. Null means that the campaign has no window, even if the project has one. Undefined
   * means that the project's window at the time of sending applies.
   */
  sendingWindow: SendingWindow | null | undefined;
  /** `YYYY-MM-DDTHH:MM` in each recipient's local time. Null sends as soon as possible. */
  sendAtLocal: string | null;
  latePolicy: LatePolicy;
}

/** The timing of a campaign without timing settings. Only the project's sending window applies. */
export const NO_TIMING: CampaignTiming = { sendingWindow: undefined, sendAtLocal: null, latePolicy: 'SEND' };
