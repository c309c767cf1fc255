import { DAY_MS, instantOf, MINUTE_MS, readLocalTime, type WallMs, wallAt } from '../time/local-time.ts';
import { CONTACT_ZONE, nextClosing, nextOpening, type SendingWindow } from '../time/sending-window.ts';
import { zoneOf } from '../time/zones.ts';
import type { LatePolicy } from './timing.ts';

/** A recipient this little late still counts as on time, because a send rarely starts exactly on the minute. */
const GRACE_MS = 15 * MINUTE_MS;

/** Settings that decide when recipients of one time zone may be sent to. */
export interface Clock {
  /** The contact's own zone. Null if the contact has no zone. */
  zone: string | null;
  projectZone: string;
  window: SendingWindow | null;
}

/** The same for recipients of a campaign. */
export interface CampaignClock extends Clock {
  sendAtLocal: string | null;
  latePolicy: LatePolicy;
  /** When the campaign started to be sent, or was last resumed. */
  goingSince: Date | null;
  /** When the winner of a test was known, for recipients who waited for it. Absent for all others. */
  winnerAt?: Date | null;
}

/**
 * Decision whether an email may be sent now. `open`: until `closesAtMs`, null without an end. `shut`: not before
 * `notBeforeMs`. `late`: not any more. Milliseconds since 1970.
 */
export type Gate =
  | { kind: 'open'; closesAtMs: number | null }
  | { kind: 'shut'; notBeforeMs: number }
  | { kind: 'late' };

/** The gate of a campaign: the recipients' hour first, and the window after it. */
export function campaignGate(clock: CampaignClock, nowMs: number): Gate {
  const wall = clock.sendAtLocal === null ? undefined : readLocalTime(clock.sendAtLocal);
  if (wall === undefined) return windowGate(clock, nowMs);
  const hourMs = hourOf(clock, wall);
  const late = clock.goingSince !== null && clock.goingSince.getTime() - hourMs > GRACE_MS;
  if (late && clock.latePolicy === 'SKIP') return { kind: 'late' };
  if (nowMs >= hourMs) return windowGate(clock, nowMs);
  const then = windowGate(clock, hourMs);
  return then.kind === 'shut' ? then : { kind: 'shut', notBeforeMs: hourMs };
}

/**
 * Recipients who waited for the winner get it at their local time of a later day: the next day, or the first day
 * after the winner was known.
 */
function hourOf(clock: CampaignClock, wall: WallMs): number {
  const zone = contactZone(clock);
  if (!clock.winnerAt) return instantOf(zone, wall);
  const known = wallAt(zone, clock.winnerAt.getTime()) - GRACE_MS;
  const days = Math.max(1, Math.ceil((known - wall) / DAY_MS));
  return instantOf(zone, wall + days * DAY_MS);
}

/** The gate of a sending window alone. */
export function windowGate(clock: Clock, nowMs: number): Exclude<Gate, { kind: 'late' }> {
  const { window } = clock;
  if (!window) return { kind: 'open', closesAtMs: null };
  const zone = windowZone(clock, window);
  const opensMs = nextOpening(window, zone, nowMs);
  if (opensMs > nowMs) return { kind: 'shut', notBeforeMs: opensMs };
  return { kind: 'open', closesAtMs: nextClosing(window, zone, nowMs) };
}

/** Whether the zones of the recipients make a difference. */
export function goesByZone({ window, sendAtLocal }: Pick<CampaignClock, 'window' | 'sendAtLocal'>): boolean {
  return sendAtLocal !== null || window?.timezone === CONTACT_ZONE;
}

function windowZone(clock: Clock, { timezone }: SendingWindow): string {
  return timezone === CONTACT_ZONE ? contactZone(clock) : (zoneOf(timezone) ?? projectZone(clock));
}

/** Contacts without a zone use the project's zone. */
function contactZone(clock: Clock): string {
  return zoneOf(clock.zone) ?? projectZone(clock);
}

/**
 * A zone that was valid when it was set may be unknown to this process, after Node was replaced by an older release.
 */
function projectZone({ projectZone }: Clock): string {
  return zoneOf(projectZone) ?? 'UTC';
}
