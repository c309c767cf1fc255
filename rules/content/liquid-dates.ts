import type { Context, Liquid } from 'liquidjs';
import { readIsoDate } from '../time/iso-date.ts';
import { MINUTE_MS, toInstant } from '../time/local-time.ts';
import { getUtcOffset, toCanonicalZone } from '../time/zones.ts';
import { wrapOwnFilter } from './filter-defect.ts';

/** The variable of a template's scope that contains the project's time zone. */
export const ZONE_NAME = '__zone';

const DATE_FILTERS = ['date', 'date_to_long_string', 'date_to_rfc822', 'date_to_string', 'date_to_xmlschema'];
/** Matches the text of a date that ends with a time zone. */
const HAS_ZONE = /(?:\bZ|\bGMT|\bUTC|[+-]\d{2}:?\d{2})\s*(?:\([^()]*\))?$/i;

/** Words that occur in dates. JavaScript accepts other words, too, and reads `Table 7` as a day in July 2001. */
const DATE_WORDS =
  /^(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?|am|pm|t|z|utc|gmt|[ecmp][ds]t)$/i;
/** Matches a year. */
const HAS_YEAR = /(?<!\d)\d{4}(?!\d)/;
const ISO_DAY = /^(\d{4})-(\d{2})-(\d{2})(?!\d)/;

/**
 * Makes date filters return the same text on every host. The library reads a time without a zone in the zone of the
 * host. Here such a time is in the project's zone, and all times are shown in the project's zone unless the template
 * names another zone.
 */
export function registerDates(engine: Liquid): void {
  for (const name of DATE_FILTERS) {
    const filter = engine.filters[name];
    if (typeof filter !== 'function') continue;
    const zonedFilter: typeof filter = function (value, ...args) {
      const { at, context } = readInZone(value, this.context);
      // Returns a text that is not a date unchanged, because the library would read it by other rules.
      if (typeof at === 'string') return at;
      return filter.call({ ...this, context }, at, ...args);
    };
    engine.registerFilter(name, zonedFilter);
  }
}

const readInZone = wrapOwnFilter((value: unknown, context: Context) => {
  const zone = findZone(context.environments);
  const at = readDate(value, zone);
  return { at, context: createZonedContext(context, zone, at) };
});

function findZone(scope: object): string {
  return toCanonicalZone(ZONE_NAME in scope ? scope[ZONE_NAME] : undefined) ?? 'UTC';
}

/**
 * Converts a date to its instant. Returns a text that is not a date unchanged. Returns other values unchanged, too,
 * because the library handles them.
 */
function readDate(value: unknown, zone: string): unknown {
  if (value === 'now' || value === 'today') return new Date();
  if (typeof value === 'number') return new Date(value * 1_000);
  if (typeof value !== 'string') return value;
  if (/^\d+$/.test(value)) return new Date(Number(value) * 1_000);
  const text = value.trim();
  const iso = readIsoDate(text);
  if (iso) return new Date(iso.offsetMs === undefined ? toInstant(zone, iso.wall) : iso.wall - iso.offsetMs);
  if (!isDateText(text)) return value;
  const hasZone = HAS_ZONE.test(text);
  const at = Date.parse(hasZone ? text : `${text} UTC`);
  if (Number.isNaN(at)) return value;
  return new Date(hasZone ? at : toInstant(zone, at));
}

/**
 * Tells whether a text looks like a date with a year, and the day exists. Without this check, JavaScript would read
 * `2027-02-30` as March 2.
 */
function isDateText(text: string): boolean {
  const words = text.replace(/\([^()]*\)$/, '').match(/\p{L}+/gu) ?? [];
  if (!HAS_YEAR.test(text) || !words.every((word) => DATE_WORDS.test(word))) return false;
  const [, year, month, day] = ISO_DAY.exec(text) ?? [];
  return (
    day === undefined || new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day)
  );
}

/** Returns a context in which the library formats an instant in a zone. */
function createZonedContext(context: Context, zone: string, at: unknown): Context {
  if (zone === 'UTC' || !(at instanceof Date) || Number.isNaN(at.getTime())) return context;
  const timezoneOffset = -getUtcOffset(zone, at.getTime()) / MINUTE_MS;
  return Object.create(context, { opts: { value: { ...context.opts, timezoneOffset } } });
}
