import { z } from 'zod';
import {
  DAY_MS,
  getStartOfDay,
  getWeekday,
  parseTimeOfDay,
  TIME_OF_DAY_PATTERN,
  toWallTime,
  type WallMs,
  type Weekday,
} from './local-time.ts';
import { getUtcOffset, toCanonicalZone } from './zones.ts';

export const ALL_DAYS: readonly Weekday[] = [1, 2, 3, 4, 5, 6, 7];
/** The precision of the search for a change of the offset. Offsets change at whole minutes. */
const CLOCK_STEP_MS = 60_000;

/** The hours and days at which marketing messages may be sent. */
export interface SendingWindow {
  /** The time at which the window opens, as `HH:MM`. */
  from: string;
  /** The time at which the window closes, as `HH:MM`. A time before `from` is on the next day. */
  to: string;
  /** The days on which the window opens. */
  days: Weekday[];
  /**
   * The time zone of the window: `contact` for each contact's own zone, or the name of a zone. Absent means the
   * project's zone.
   */
  timezone?: string | undefined;
}

/** The value of `timezone` for each contact's own time zone. */
export const CONTACT_ZONE = 'contact';

/** The schema for the name of a time zone. The name is stored as written, because a zone may have several names. */
export const ZoneInput = z
  .string()
  .refine((name) => toCanonicalZone(name) !== undefined, 'Not an IANA time zone such as Europe/Berlin.');

export const TimeInput = z.string().regex(TIME_OF_DAY_PATTERN, 'An hour is written HH:MM, from 00:00 to 23:59.');

export const DaysInput = z
  .array(z.number().int().min(1).max(7))
  .min(1)
  .max(7)
  .transform((days) => [...new Set(days)].sort());

/** The schema for a window in a request. */
export const SendingWindowInput = z
  .object({
    from: TimeInput,
    to: TimeInput,
    days: DaysInput.default([...ALL_DAYS]),
    timezone: z.union([z.literal(CONTACT_ZONE), ZoneInput]).optional(),
  })
  .refine(({ from, to }) => from !== to, {
    path: ['to'],
    message: 'A window that opens and closes at the same time is never open. Omit the window to send at any time.',
  });

/**
 * Tells whether the window is open at a local time. A window that includes midnight belongs to the day on which it
 * opens.
 */
function isOpenAt({ from, to, days }: SendingWindow, wall: WallMs): boolean {
  const sinceMidnight = wall - getStartOfDay(wall);
  const today = getWeekday(wall);
  const [opens, closes] = [parseTimeOfDay(from), parseTimeOfDay(to)];
  if (opens < closes) return opens <= sinceMidnight && sinceMidnight < closes && days.includes(today);
  if (sinceMidnight >= opens) return days.includes(today);
  return sinceMidnight < closes && days.includes(getWeekday(wall - DAY_MS));
}

/** Tells whether the window is open at an instant, in the local time of `zone`. */
export function isWindowOpen(window: SendingWindow, zone: string, atMs: number): boolean {
  return isOpenAt(window, toWallTime(zone, atMs));
}

/** Returns the first instant at or after `atMs` at which the window is open. */
export function findNextOpening(window: SendingWindow, zone: string, atMs: number): number {
  return findInstant(zone, atMs, {
    isReached: (wall) => isOpenAt(window, wall),
    next: (wall) => findNextSendingDay(window, wall) + parseTimeOfDay(window.from),
  });
}

/** Returns the first instant after `atMs` at which the window is closed. The window must be open at `atMs`. */
export function findNextClosing(window: SendingWindow, zone: string, atMs: number): number {
  return findInstant(zone, atMs, {
    isReached: (wall) => !isOpenAt(window, wall),
    next: (wall) => {
      const closes = getStartOfDay(wall) + parseTimeOfDay(window.to);
      return closes > wall ? closes : closes + DAY_MS;
    },
  });
}

/** Returns the first day on which the window opens after `wall`. */
function findNextSendingDay({ from, days }: SendingWindow, wall: WallMs): WallMs {
  let day = getStartOfDay(wall);
  if (day + parseTimeOfDay(from) <= wall) day += DAY_MS;
  while (!days.includes(getWeekday(day))) day += DAY_MS;
  return day;
}

/**
 * Returns the first instant at or after `atMs` at which `isReached` is true for the local time. `next` returns the next
 * local time to check. While the offset of the zone is constant, the instant of a local time can be computed. If the
 * offset changes before that instant, the search continues from the change.
 */
function findInstant(
  zone: string,
  atMs: number,
  p: { isReached: (wall: WallMs) => boolean; next: (wall: WallMs) => WallMs },
): number {
  for (let fromMs = atMs; ; ) {
    const offset = getUtcOffset(zone, fromMs);
    const wall = fromMs + offset;
    if (p.isReached(wall)) return fromMs;
    const foundMs = p.next(wall) - offset;
    const changeMs = findOffsetChange(zone, fromMs, foundMs);
    if (changeMs === undefined) {
      if (p.isReached(foundMs + offset)) return foundMs;
      fromMs = foundMs;
    } else fromMs = changeMs;
  }
}

/**
 * Returns the first instant between `fromMs` and `toMs` (a few days later at most) at which the offset changes.
 * Undefined if it does not change.
 */
function findOffsetChange(zone: string, fromMs: number, toMs: number): number | undefined {
  for (let dayMs = fromMs; dayMs < toMs; dayMs += DAY_MS) {
    const endMs = Math.min(dayMs + DAY_MS, toMs);
    if (getUtcOffset(zone, dayMs) !== getUtcOffset(zone, endMs)) return bisectOffsetChange(zone, dayMs, endMs);
  }
  return undefined;
}

function bisectOffsetChange(zone: string, fromMs: number, toMs: number): number {
  const offset = getUtcOffset(zone, fromMs);
  let same = Math.floor(fromMs / CLOCK_STEP_MS);
  let other = Math.ceil(toMs / CLOCK_STEP_MS);
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (getUtcOffset(zone, middle * CLOCK_STEP_MS) === offset) same = middle;
    else other = middle;
  }
  return other * CLOCK_STEP_MS;
}
