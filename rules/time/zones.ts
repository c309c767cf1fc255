import { Lru } from '../lru.ts';

/** There are about 600 names; whoever writes others into contacts' data makes nobody forget these. */
const KNOWN_ZONES = 2_000;
const MINUTE_MS = 60_000;

/**
 * A zone that is known by its canonical name, with what tells the offset of an instant; null for a name that is none.
 */
type Zone = { name: string; format: Intl.DateTimeFormat } | null;

const zones = new Lru<string, { zone: Zone }>(KNOWN_ZONES);

/** As IANA writes them: `Europe/Berlin`, `UTC`, `Etc/GMT+5`; never an offset such as `+02:00`. */
export const ZONE_PATTERN = '^[A-Za-z][A-Za-z0-9_+/-]{1,63}$';
const ZONE_NAME = new RegExp(ZONE_PATTERN);

/**
 * The one name of an IANA zone that may be written in several ways (`asia/kolkata`, `US/Eastern`); undefined for what
 * is none.
 */
export function zoneOf(name: unknown): string | undefined {
  return typeof name === 'string' ? findZone(name)?.name : undefined;
}

/**
 * Milliseconds by which the zone's clocks are before UTC at an instant. @throws RangeError for a name that is no zone
 */
export function offsetAt(zone: string, atMs: number): number {
  const found = findZone(zone);
  if (!found) throw new RangeError(`${zone} is not a time zone`);
  return readOffset(found.format.format(atMs));
}

function findZone(name: string): Zone {
  const known = zones.get(name);
  if (known) return known.zone;
  const zone = ZONE_NAME.test(name) ? make(name) : null;
  zones.set(name, { zone });
  return zone;
}

function make(timeZone: string): Zone {
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
    return { name: format.resolvedOptions().timeZone, format };
  } catch {
    return null;
  }
}

/** Of `11/22/2026, GMT+05:45`, or `GMT` alone; zones had seconds before 1972. */
function readOffset(text: string): number {
  const found = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
  if (!found) throw new Error(`no offset in ${text}`);
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = found;
  const ms = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS + Number(seconds) * 1_000;
  return sign === '-' ? -ms : ms;
}
