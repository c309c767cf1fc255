import { DAY_MS, dayOf, instantOf, wallAt, writeLocalTime } from './local-time.ts';

/** A day as the clocks of a zone count it: 23 or 25 hours where they are put forward or back. */
export interface LocalDay {
  /** `YYYY-MM-DD`. */
  date: string;
  /** Its first instant, and the first of the next day. */
  fromMs: number;
  untilMs: number;
}

/** The days of a zone from that of an instant to that of another, in their order. */
export function localDays(zone: string, firstMs: number, lastMs: number): LocalDay[] {
  const days: LocalDay[] = [];
  const last = dayOf(wallAt(zone, lastMs));
  for (let day = dayOf(wallAt(zone, firstMs)); day <= last; day += DAY_MS) {
    const [fromMs, untilMs] = [instantOf(zone, day), instantOf(zone, day + DAY_MS)];
    days.push({ date: writeLocalTime(day).slice(0, 10), fromMs, untilMs });
  }
  return days;
}

/** The running day of a zone and those before it, `count` in all. */
export function lastDays(zone: string, count: number, nowMs: number): LocalDay[] {
  const today = dayOf(wallAt(zone, nowMs));
  return localDays(zone, instantOf(zone, today - (count - 1) * DAY_MS), nowMs);
}
