import { Lru } from '../lru.ts';

/**
 * The maximum number of zones in the cache. About 600 names exist. The limit is higher, because the cache also contains
 * invalid names from contacts' data.
 */
const KNOWN_ZONES = 2_000;
const MINUTE_MS = 60_000;

/** A time zone: its canonical name, and a formatter from which its offset is read. Null for an unknown name. */
type Zone = { name: string; format: Intl.DateTimeFormat } | null;

const zones = new Lru<string, { zone: Zone }>(KNOWN_ZONES);

/** Matches the form of IANA names: `Europe/Berlin`, `UTC`, `Etc/GMT+5`. An offset such as `+02:00` is not a name. */
export const ZONE_PATTERN = '^[A-Za-z][A-Za-z0-9_+/-]{1,63}$';
const ZONE_NAME = new RegExp(ZONE_PATTERN);

/**
 * Returns the canonical name of an IANA time zone, for a name in any case or an alias (`asia/kolkata`, `US/Eastern`).
 * Undefined for an unknown name.
 */
export function toCanonicalZone(name: unknown): string | undefined {
  return typeof name === 'string' ? findZone(name)?.name : undefined;
}

/**
 * Returns the milliseconds by which the zone is ahead of UTC at an instant.
 * @throws RangeError for an unknown zone
 */
export function getUtcOffset(zone: string, atMs: number): number {
  const found = findZone(zone);
  if (!found) throw new RangeError(`${zone} is not a time zone`);
  return readOffset(found.format.format(atMs));
}

function findZone(name: string): Zone {
  const cached = zones.get(name);
  if (cached) return cached.zone;
  const zone = ZONE_NAME.test(name) ? createZone(name) : null;
  zones.set(name, { zone });
  return zone;
}

function createZone(timeZone: string): Zone {
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
    return { name: format.resolvedOptions().timeZone, format };
  } catch {
    return null;
  }
}

/**
 * Parses the offset in a text such as `11/22/2026, GMT+05:45`, or with `GMT` only. Before 1972, some offsets had
 * seconds.
 */
function readOffset(text: string): number {
  const found = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
  if (!found) throw new Error(`no offset in ${text}`);
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = found;
  const ms = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS + Number(seconds) * 1_000;
  return sign === '-' ? -ms : ms;
}
