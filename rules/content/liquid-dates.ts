import type { Context, Liquid } from 'liquidjs';
import { readIsoDate } from '../time/iso-date.ts';
import { instantOf, MINUTE_MS } from '../time/local-time.ts';
import { offsetAt, zoneOf } from '../time/zones.ts';

// The library calculates by the clocks of the host: where these skip an hour, its times would be an hour off. Node
// applies this at once, and threads inherit it.
process.env.TZ = 'UTC';

/** The name under which the scope of a template has the project's zone. */
export const ZONE_NAME = '__zone';

const DATE_FILTERS = ['date', 'date_to_long_string', 'date_to_rfc822', 'date_to_string', 'date_to_xmlschema'];
/** A date in words or numbers that says its zone. */
const HAS_ZONE = /(?:\bZ|\bGMT|\bUTC|[+-]\d{2}:?\d{2})\s*(?:\([^()]*\))?$/i;

/**
 * Makes date filters give the same text on every host: the library reads a time without a zone by the clocks of the host
 * that renders it. Here such a time is by the clocks of the project, which show every time unless the template names
 * another zone.
 */
export function registerDates(engine: Liquid): void {
  for (const name of DATE_FILTERS) {
    const filter = engine.filters[name];
    if (typeof filter !== 'function') continue;
    const fixed: typeof filter = function (value, ...args) {
      const zone = zoneIn(this.context.environments);
      const at = readDate(value, zone);
      return filter.call({ ...this, context: showing(this.context, zone, at) }, at, ...args);
    };
    engine.registerFilter(name, fixed);
  }
}

function zoneIn(scope: object): string {
  return zoneOf(ZONE_NAME in scope ? scope[ZONE_NAME] : undefined) ?? 'UTC';
}

/** The instant of a date; a value that is none is left to the library, which gives it back. */
function readDate(value: unknown, zone: string): unknown {
  if (value === 'now' || value === 'today') return new Date();
  if (typeof value === 'number') return new Date(value * 1_000);
  if (typeof value !== 'string') return value;
  if (/^\d+$/.test(value)) return new Date(Number(value) * 1_000);
  const text = value.trim();
  const iso = readIsoDate(text);
  if (iso) return new Date(iso.offsetMs === undefined ? instantOf(zone, iso.wall) : iso.wall - iso.offsetMs);
  const hasZone = HAS_ZONE.test(text);
  const at = Date.parse(hasZone ? text : `${text} UTC`);
  if (Number.isNaN(at)) return value;
  return new Date(hasZone ? at : instantOf(zone, at));
}

/** The context in which the library shows an instant by the clocks of a zone. */
function showing(context: Context, zone: string, at: unknown): Context {
  if (zone === 'UTC' || !(at instanceof Date) || Number.isNaN(at.getTime())) return context;
  const timezoneOffset = -offsetAt(zone, at.getTime()) / MINUTE_MS;
  return Object.create(context, { opts: { value: { ...context.opts, timezoneOffset } } });
}
