import type { SendingWindow } from '../time/sending-window.ts';

/** Policy for a recipient whose local time is over: send at once, or skip (`too_late`). */
export const LATE_POLICIES = ['SEND', 'SKIP'] as const;
export type LatePolicy = (typeof LATE_POLICIES)[number];

/** When a campaign may reach its recipients, as its author says it. */
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

/** At any time. */
export const NO_TIMING: CampaignTiming = { sendingWindow: undefined, sendAtLocal: null, latePolicy: 'SEND' };
