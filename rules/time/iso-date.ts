import type { WallMs } from './local-time.ts';

/**
 * Matches a calendar date in the extended format of ISO 8601. A time of day and an offset may follow, and the T may be
 * a space. The SQL function `tidings_ts` (migration `filter-functions`) accepts the same form.
 */
const ISO_DATE =
  /^([1-9]\d{3})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(Z|[+-](?:0\d|1[0-4]):?[0-5]\d)?)?$/;

export interface IsoDate {
  /** The date and time as written, without the offset. */
  wall: WallMs;
  /** The offset: the milliseconds ahead of UTC. Undefined if the text has no offset. */
  offsetMs: number | undefined;
  /** True if the text has no time of day. */
  isDay: boolean;
}

/** Parses an ISO 8601 date or date-time. Undefined for any other text, and for a day that does not exist. */
export function readIsoDate(text: string): IsoDate | undefined {
  const match = ISO_DATE.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0));
  const days = new Date(Date.UTC(year ?? 0, (month ?? 1) - 1, day));
  if (days.getUTCDate() !== day) return undefined; // `Date.UTC` would read 30 February as a day in March.
  const millis = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  const wall = days.getTime() + (((hour ?? 0) * 60 + (minute ?? 0)) * 60 + (second ?? 0)) * 1000 + millis;
  return { wall, offsetMs: parseOffset(match[8]), isDay: match[4] === undefined };
}

function parseOffset(zone: string | undefined): number | undefined {
  if (!zone) return undefined;
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}
