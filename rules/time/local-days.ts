import { DAY_MS, getStartOfDay, toInstant, toWallTime, writeLocalTime } from './local-time.ts';

/** A day in the local time of a zone. A local day has 23 or 25 hours when daylight saving time changes. */
export interface LocalDay {
  /** The date, as `YYYY-MM-DD`. */
  date: string;
  /** The first instant of the day. `untilMs` is the first instant of the next day. */
  fromMs: number;
  untilMs: number;
}

/** Returns the days of a zone from the day of the first instant to the day of the last one, in order. */
export function listLocalDays(zone: string, firstMs: number, lastMs: number): LocalDay[] {
  const days: LocalDay[] = [];
  const last = getStartOfDay(toWallTime(zone, lastMs));
  for (let day = getStartOfDay(toWallTime(zone, firstMs)); day <= last; day += DAY_MS) {
    const [fromMs, untilMs] = [toInstant(zone, day), toInstant(zone, day + DAY_MS)];
    days.push({ date: writeLocalTime(day).slice(0, 10), fromMs, untilMs });
  }
  return days;
}

/** Returns the current day of a zone and the days before it, `count` in total. */
export function listLastDays(zone: string, count: number, nowMs: number): LocalDay[] {
  const today = getStartOfDay(toWallTime(zone, nowMs));
  return listLocalDays(zone, toInstant(zone, today - (count - 1) * DAY_MS), nowMs);
}
