import type { Context, Liquid } from 'liquidjs';
import { readIsoDate } from '../time/iso-date.ts';
import { instantOf, MINUTE_MS } from '../time/local-time.ts';
import { offsetAt, zoneOf } from '../time/zones.ts';
import { ownFilter } from './filter-defect.ts';

/** The name under which the scope of a template has the project's zone. */
export const ZONE_NAME = '__zone';

const DATE_FILTERS = ['date', 'date_to_long_string', 'date_to_rfc822', 'date_to_string', 'date_to_xmlschema'];
/** Matches a date text with a zone. */
const HAS_ZONE = /(?:\bZ|\bGMT|\bUTC|[+-]\d{2}:?\d{2})\s*(?:\([^()]*\))?$/i;

/**
 * Makes date filters return the same text on every host. The library reads a time without a zone in the zone of the
 * host. Here such a time is in the project's zone, and all times are shown in that zone unless the template names
 * another one.
 */
export function registerDates(engine: Liquid): void {
  for (const name of DATE_FILTERS) {
    const filter = engine.filters[name];
    if (typeof filter !== 'function') continue;
    const fixed: typeof filter = function (value, ...args) {
      const { at, context } = inZone(value, this.context);
      return filter.call({ ...this, context }, at, ...args);
    };
    engine.registerFilter(name, fixed);
  }
}

const inZone = ownFilter((value: unknown, context: Context) => {
  const zone = zoneIn(context.environments);
  const at = readDate(value, zone);
  return { at, context: showing(context, zone, at) };
});

function zoneIn(scope: object): string {
  return zoneOf(ZONE_NAME in scope ? scope[ZONE_NAME] : undefined) ?? 'UTC';
}

/** Reads a date to its instant. Other values go to the library, which returns them unchanged. */
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

/** The context in which the library shows an instant in a zone. */
function showing(context: Context, zone: string, at: unknown): Context {
  if (zone === 'UTC' || !(at instanceof Date) || Number.isNaN(at.getTime())) return context;
  const timezoneOffset = -offsetAt(zone, at.getTime()) / MINUTE_MS;
  return Object.create(context, { opts: { value: { ...context.opts, timezoneOffset } } });
}
