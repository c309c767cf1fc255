import { DAY_MS, MINUTE_MS, readLocalTime, toInstant, toWallTime, type WallMs } from '../time/local-time.ts';
import { CONTACT_ZONE, findNextClosing, findNextOpening, type SendingWindow } from '../time/sending-window.ts';
import { toCanonicalZone } from '../time/zones.ts';
import type { LatePolicy } from './timing.ts';

/**
 * If a campaign starts at most this long after the recipients' local send time, the recipients do not count as late. A
 * campaign rarely starts exactly on the minute.
 */
const GRACE_MS = 15 * MINUTE_MS;

/** The zones and the sending window of recipients that share a time zone. */
export interface RecipientTiming {
  /** The contact's own zone. Null if the contact has no zone. */
  zone: string | null;
  projectZone: string;
  window: SendingWindow | null;
}

/** The timing settings of a campaign for recipients that share a time zone. */
export interface CampaignRecipientTiming extends RecipientTiming {
  sendAtLocal: string | null;
  latePolicy: LatePolicy;
  /** When the campaign started to be sent, or was last resumed. */
  goingSince: Date | null;
  /** When the winner of the test was chosen, for recipients who waited for the winner. Absent for other recipients. */
  winnerAt?: Date | null;
}

/**
 * Tells whether email may be sent now. Times are in milliseconds since 1970.
 * - `open`: yes, until `closesAtMs`; null means without an end.
 * - `closed`: not before `notBeforeMs`.
 * - `late`: never, because the campaign started or was resumed too late for the local send time, and its policy is to
 * skip such recipients.
 */
export type Gate =
  | { kind: 'open'; closesAtMs: number | null }
  | { kind: 'closed'; notBeforeMs: number }
  | { kind: 'late' };

/** Decides whether a campaign may send now: by the recipients' local send time first, then by the sending window. */
export function checkCampaignGate(timing: CampaignRecipientTiming, nowMs: number): Gate {
  const wall = timing.sendAtLocal === null ? undefined : readLocalTime(timing.sendAtLocal);
  if (wall === undefined) return checkWindowGate(timing, nowMs);
  const sendAtMs = computeSendTimeMs(timing, wall);
  const late = timing.goingSince !== null && timing.goingSince.getTime() - sendAtMs > GRACE_MS;
  if (late && timing.latePolicy === 'SKIP') return { kind: 'late' };
  if (nowMs >= sendAtMs) return checkWindowGate(timing, nowMs);
  const atSendTime = checkWindowGate(timing, sendAtMs);
  return atSendTime.kind === 'closed' ? atSendTime : { kind: 'closed', notBeforeMs: sendAtMs };
}

/**
 * Converts the local send time to an instant. Recipients who waited for the winner of a test get the email at the same
 * local time, but at least one day later. The day is the first day on which this time is not more than `GRACE_MS`
 * before the choice of the winner.
 */
function computeSendTimeMs(timing: CampaignRecipientTiming, wall: WallMs): number {
  const zone = getContactZone(timing);
  if (!timing.winnerAt) return toInstant(zone, wall);
  const earliest = toWallTime(zone, timing.winnerAt.getTime()) - GRACE_MS;
  const days = Math.max(1, Math.ceil((earliest - wall) / DAY_MS));
  return toInstant(zone, wall + days * DAY_MS);
}

/** Decides whether email may be sent now, by the sending window alone. */
export function checkWindowGate(timing: RecipientTiming, nowMs: number): Exclude<Gate, { kind: 'late' }> {
  const { window } = timing;
  if (!window) return { kind: 'open', closesAtMs: null };
  const zone = getWindowZone(timing, window);
  const opensMs = findNextOpening(window, zone, nowMs);
  if (opensMs > nowMs) return { kind: 'closed', notBeforeMs: opensMs };
  return { kind: 'open', closesAtMs: findNextClosing(window, zone, nowMs) };
}

/** Returns when the sending window opens, if it is closed now. */
export function findWindowOpening(timing: RecipientTiming, nowMs: number): Date | undefined {
  const gate = checkWindowGate(timing, nowMs);
  return gate.kind === 'closed' ? new Date(gate.notBeforeMs) : undefined;
}

/** Tells whether the send time depends on the recipients' time zones. */
export function dependsOnRecipientZone({
  window,
  sendAtLocal,
}: Pick<CampaignRecipientTiming, 'window' | 'sendAtLocal'>): boolean {
  return sendAtLocal !== null || window?.timezone === CONTACT_ZONE;
}

function getWindowZone(timing: RecipientTiming, { timezone }: SendingWindow): string {
  return timezone === CONTACT_ZONE ? getContactZone(timing) : (toCanonicalZone(timezone) ?? getProjectZone(timing));
}

/** Returns the recipients' time zone. Falls back to the project's zone. */
function getContactZone(timing: RecipientTiming): string {
  return toCanonicalZone(timing.zone) ?? getProjectZone(timing);
}

/**
 * Returns the project's time zone. Falls back to UTC, because a zone that was valid when it was saved may be unknown to
 * this process, after Node was replaced by an older release.
 */
function getProjectZone({ projectZone }: RecipientTiming): string {
  return toCanonicalZone(projectZone) ?? 'UTC';
}
