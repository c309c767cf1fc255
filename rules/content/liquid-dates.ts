import type { Liquid } from 'liquidjs';
import { parseIsoDate } from '../filters/values.ts';

const DATE_FILTERS = ['date', 'date_to_long_string', 'date_to_rfc822', 'date_to_string', 'date_to_xmlschema'];
/** A date in words or numbers that says its zone. */
const HAS_ZONE = /(?:\bZ|\bGMT|\bUTC|[+-]\d{2}:?\d{2})\s*(?:\([^()]*\))?$/i;

/**
 * Makes date filters give the same text on every host: the library reads a time without a zone by the clocks of the host
 * that renders it. Here it means UTC, in which times are shown as well unless the template names another zone.
 */
export function registerDates(engine: Liquid): void {
  for (const name of DATE_FILTERS) {
    const filter = engine.filters[name];
    if (typeof filter !== 'function') continue;
    const fixed: typeof filter = function (value, ...args) {
      return filter.call(this, withZone(value), ...args);
    };
    engine.registerFilter(name, fixed);
  }
}

function withZone(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const iso = parseIsoDate(value.trim());
  if (iso !== undefined) return new Date(iso);
  if (/^(?:\d+|now|today)$/.test(value) || HAS_ZONE.test(value.trim())) return value;
  const at = Date.parse(`${value} UTC`);
  return Number.isNaN(at) ? value : new Date(at);
}
