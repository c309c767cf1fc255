import { getUtcOffset } from './zones.ts';

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;
/** Time zones are at most 14 hours ahead of UTC, and at most 12 hours behind. */
const FURTHEST_AHEAD_MS = 14 * 3_600_000;
const FURTHEST_BEHIND_MS = 12 * 3_600_000;

/** A local date and time, as a number: the milliseconds since 1970 at which UTC has this date and time. */
export type WallMs = number;

/** Returns the local time in a zone at an instant. */
export function toWallTime(zone: string, atMs: number): WallMs {
  return atMs + getUtcOffset(zone, atMs);
}

/**
 * Returns the instant of a local time in a zone. When daylight saving time starts, some local times are skipped. Such a
 * time is moved forward by the skipped span: 02:30 becomes 03:30. For a local time that occurs twice, returns the first
 * occurrence.
 */
export function toInstant(zone: string, wall: WallMs): number {
  // One day is more than any offset, and no zone changes its offset twice within two days.
  const before = getUtcOffset(zone, wall - DAY_MS);
  const after = getUtcOffset(zone, wall + DAY_MS);
  const instants = [wall - before, wall - after].filter((atMs) => toWallTime(zone, atMs) === wall);
  return instants.length > 0 ? Math.min(...instants) : wall - before;
}

/** Returns the first instant at which some zone has this local time. */
export function findFirstInstant(wall: WallMs): number {
  return wall - FURTHEST_AHEAD_MS;
}

/** Returns the last instant at which some zone has this local time. */
export function findLastInstant(wall: WallMs): number {
  return wall + FURTHEST_BEHIND_MS;
}

/** Matches a time of day as `HH:MM`. */
export const TIME_OF_DAY_PATTERN = /^([01]\d|2[0-3]):[0-5]\d$/;

/** Returns the milliseconds from midnight to `HH:MM`. */
export function parseTimeOfDay(hour: string): number {
  const [hours = 0, minutes = 0] = hour.split(':').map(Number);
  return (hours * 60 + minutes) * MINUTE_MS;
}

/** Returns the midnight at which the local day starts. */
export function getStartOfDay(wall: WallMs): WallMs {
  return Math.floor(wall / DAY_MS) * DAY_MS;
}

/** A day of the week: 1 is Monday, and 7 is Sunday. */
export type Weekday = number;

export function getWeekday(wall: WallMs): Weekday {
  // The first of January 1970 was a Thursday.
  return ((((Math.floor(wall / DAY_MS) + 3) % 7) + 7) % 7) + 1;
}

/** Parses `YYYY-MM-DDTHH:MM`. Undefined for any other form, and for a day that does not exist. */
export function readLocalTime(text: string): WallMs | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(text)) return undefined;
  const wall = Date.parse(`${text}Z`);
  return Number.isNaN(wall) || writeLocalTime(wall) !== text ? undefined : wall;
}

/** Formats a local time as `YYYY-MM-DDTHH:MM`. */
export function writeLocalTime(wall: WallMs): string {
  return new Date(wall).toISOString().slice(0, 16);
}

/** Returns the first instant after `afterMs` at which the zone has this time of day, on one of the given days. */
export function findNextTime(zone: string, p: { hour: string; days: readonly Weekday[]; afterMs: number }): number {
  const today = getStartOfDay(toWallTime(zone, p.afterMs));
  // Checks eight days ahead, because the time on today's weekday may be over. Starts one day earlier, because a change
  // of the zone's offset may have skipped a day.
  for (let day = today - DAY_MS; day <= today + 8 * DAY_MS; day += DAY_MS) {
    if (!p.days.includes(getWeekday(day))) continue;
    const atMs = toInstant(zone, day + parseTimeOfDay(p.hour));
    if (atMs > p.afterMs) return atMs;
  }
  throw new RangeError('an hour without a day never comes');
}
