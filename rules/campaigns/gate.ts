import { DAY_MS, instantOf, MINUTE_MS, readLocalTime, type WallMs, wallAt } from '../time/local-time.ts';
import { CONTACT_ZONE, nextClosing, nextOpening, type SendingWindow } from '../time/sending-window.ts';
import { zoneOf } from '../time/zones.ts';
import type { LatePolicy } from './timing.ts';

/** Nobody is late by so little: an hour is rarely met to the minute. */
const GRACE_MS = 15 * MINUTE_MS;

/** What decides when mail may leave for some recipients who share their clocks. */
export interface Clock {
  /** Their own zone; null where they have none. */
  zone: string | null;
  projectZone: string;
  window: SendingWindow | null;
}

/** The same for recipients of a campaign. */
export interface CampaignClock extends Clock {
  sendAtLocal: string | null;
  latePolicy: LatePolicy;
  /** When the campaign began to be sent, or was resumed last. */
  goingSince: Date | null;
  /** Of recipients who waited for the winner of a test: when it was known. Absent for all others. */
  winnerAt?: Date | null;
}

/**
 * Whether mail may leave now. `open`: until `closesAtMs`, null for ever. `shut`: not before `notBeforeMs`. `late`: not
 * any more. Milliseconds since 1970.
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
 * Whoever waited for the winner gets it at their hour of a later day: the next one, or the first after it was known.
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

/** Whose zone is none goes by the project's. */
function contactZone(clock: Clock): string {
  return zoneOf(clock.zone) ?? projectZone(clock);
}

/**
 * A zone that was one when it was set may be unknown to this process, after an older release of Node was put in its
 * place.
 */
function projectZone({ projectZone }: Clock): string {
  return zoneOf(projectZone) ?? 'UTC';
}
