import { offsetAt } from './zones.ts';

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;
/** Zones are at most 12 hours behind UTC and 14 hours ahead. */
const FURTHEST_AHEAD_MS = 14 * 3_600_000;
const FURTHEST_BEHIND_MS = 12 * 3_600_000;

/** Local time of a zone, as the milliseconds since 1970 at which UTC has the same time of day and date. */
export type WallMs = number;

/** Returns the zone's local time at an instant. */
export function wallAt(zone: string, atMs: number): WallMs {
  return atMs + offsetAt(zone, atMs);
}

/**
 * Returns the instant of a local time in a zone. A skipped local time, when daylight saving time starts, moves
 * forward by the skipped span: 02:30 is 03:30. A repeated one is its first occurrence.
 */
export function instantOf(zone: string, wall: WallMs): number {
  // A day covers every offset, and no zone changes its local time twice in two days.
  const before = offsetAt(zone, wall - DAY_MS);
  const after = offsetAt(zone, wall + DAY_MS);
  const found = [wall - before, wall - after].filter((atMs) => wallAt(zone, atMs) === wall);
  return found.length > 0 ? Math.min(...found) : wall - before;
}

/** Returns the first instant at which any zone has a local time. */
export function firstInstantOf(wall: WallMs): number {
  return wall - FURTHEST_AHEAD_MS;
}

/** Returns the last instant at which any zone has a local time. */
export function lastInstantOf(wall: WallMs): number {
  return wall + FURTHEST_BEHIND_MS;
}

/** `HH:MM`. */
export const HOUR_PATTERN = /^([01]\d|2[0-3]):[0-5]\d$/;

/** Returns the milliseconds from midnight to `HH:MM`. */
export function hourMs(hour: string): number {
  const [hours = 0, minutes = 0] = hour.split(':').map(Number);
  return (hours * 60 + minutes) * MINUTE_MS;
}

/** Returns midnight of the local day. */
export function dayOf(wall: WallMs): WallMs {
  return Math.floor(wall / DAY_MS) * DAY_MS;
}

/** 1 is Monday, 7 Sunday. */
export type Weekday = number;

export function weekdayOf(wall: WallMs): Weekday {
  // The first of January 1970 was a Thursday.
  return ((((Math.floor(wall / DAY_MS) + 3) % 7) + 7) % 7) + 1;
}

/** Reads `YYYY-MM-DDTHH:MM`; undefined for another form, and for a day that does not exist. */
export function readLocalTime(text: string): WallMs | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(text)) return undefined;
  const wall = Date.parse(`${text}Z`);
  return Number.isNaN(wall) || writeLocalTime(wall) !== text ? undefined : wall;
}

/** `YYYY-MM-DDTHH:MM`. */
export function writeLocalTime(wall: WallMs): string {
  return new Date(wall).toISOString().slice(0, 16);
}

/** Returns the first instant after `afterMs` with this local time in the zone, on one of the days. */
export function nextHour(zone: string, p: { hour: string; days: readonly Weekday[]; afterMs: number }): number {
  const today = dayOf(wallAt(zone, p.afterMs));
  // Checks up to eight days, because today's time on the same weekday may be over, and starts one day before, because a
  // change of the zone may have merged two days.
  for (let day = today - DAY_MS; day <= today + 8 * DAY_MS; day += DAY_MS) {
    if (!p.days.includes(weekdayOf(day))) continue;
    const atMs = instantOf(zone, day + hourMs(p.hour));
    if (atMs > p.afterMs) return atMs;
  }
  throw new RangeError('an hour without a day never comes');
}
