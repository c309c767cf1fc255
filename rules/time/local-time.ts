import { offsetAt } from './zones.ts';

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;
/** The zones furthest from UTC are 12 hours behind it and 14 before it. */
const FURTHEST_AHEAD_MS = 14 * 3_600_000;

/** What the clocks of a zone show, as the milliseconds at which a clock of UTC shows the same. */
export type WallMs = number;

/** What the zone's clocks show at an instant. */
export function wallAt(zone: string, atMs: number): WallMs {
  return atMs + offsetAt(zone, atMs);
}

/**
 * The instant at which a zone's clocks show a time. One that they leave out, when they are put forward, is as much
 * later as they skip: 02:30 is 03:30. One that they show twice is its first.
 */
export function instantOf(zone: string, wall: WallMs): number {
  // A day covers every offset, and no zone changes its clocks twice in two days.
  const before = offsetAt(zone, wall - DAY_MS);
  const after = offsetAt(zone, wall + DAY_MS);
  const found = [wall - before, wall - after].filter((atMs) => wallAt(zone, atMs) === wall);
  return found.length > 0 ? Math.min(...found) : wall - before;
}

/** The first instant at which clocks anywhere show a time. */
export function firstInstantOf(wall: WallMs): number {
  return wall - FURTHEST_AHEAD_MS;
}

/** `HH:MM`. */
export const HOUR_PATTERN = /^([01]\d|2[0-3]):[0-5]\d$/;

/** Milliseconds since midnight of `HH:MM`. */
export function hourMs(hour: string): number {
  const [hours = 0, minutes = 0] = hour.split(':').map(Number);
  return (hours * 60 + minutes) * MINUTE_MS;
}

/** Midnight of the day that the clocks show. */
export function dayOf(wall: WallMs): WallMs {
  return Math.floor(wall / DAY_MS) * DAY_MS;
}

/** 1 is Monday, 7 Sunday. */
export type Weekday = number;

export function weekdayOf(wall: WallMs): Weekday {
  // The first of January 1970 was a Thursday.
  return ((((Math.floor(wall / DAY_MS) + 3) % 7) + 7) % 7) + 1;
}

/** The milliseconds of `YYYY-MM-DDTHH:MM`; undefined for a text of another form, or a day that no calendar has. */
export function readLocalTime(text: string): WallMs | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(text)) return undefined;
  const wall = Date.parse(`${text}Z`);
  return Number.isNaN(wall) || writeLocalTime(wall) !== text ? undefined : wall;
}

/** `YYYY-MM-DDTHH:MM`. */
export function writeLocalTime(wall: WallMs): string {
  return new Date(wall).toISOString().slice(0, 16);
}

/** The first instant after `afterMs` at which the zone's clocks show an hour, on one of the days. */
export function nextHour(zone: string, p: { hour: string; days: readonly Weekday[]; afterMs: number }): number {
  const today = dayOf(wallAt(zone, p.afterMs));
  // Eight days on is the same weekday, whose hour may be over today; one before, for a day that the clocks have put
  // together with this one.
  for (let day = today - DAY_MS; day <= today + 8 * DAY_MS; day += DAY_MS) {
    if (!p.days.includes(weekdayOf(day))) continue;
    const atMs = instantOf(zone, day + hourMs(p.hour));
    if (atMs > p.afterMs) return atMs;
  }
  throw new RangeError('an hour without a day never comes');
}
