/**
 * Compares a stored value with the value of a filter (contract §5.2 Filters). `db/segments/filter-sql.ts` does the same
 * in SQL, and a property test checks that both agree. The type of the filter's value determines the comparison. A
 * number is compared only with stored numbers; a stored string of digits is text. A string in the form of an ISO date
 * is compared with stored strings of this form, as instants in milliseconds. A date-time without an offset is in the
 * project's time zone, and a date without a time is midnight UTC. Any other string is compared with stored strings,
 * ignoring case. Values of other types do not match.
 */
import { readIsoDate } from '../time/iso-date.ts';
import { toInstant } from '../time/local-time.ts';
import type { Unit } from './fields.ts';

export type Scalar = string | number | boolean;

const UNIT_MS: Record<Unit, number> = { minutes: 60_000, hours: 3_600_000, days: 86_400_000, weeks: 604_800_000 };

/** Converts a span, such as 3 days, to whole milliseconds. */
export function spanMs(value: number, unit: Unit): number {
  return Math.round(value * UNIT_MS[unit]);
}

/**
 * Parses an ISO 8601 date or date-time to milliseconds since the epoch. Returns undefined for any other text.
 * @param zone the time zone of a date-time without an offset
 */
export function parseIsoDate(text: string, zone = 'UTC'): number | undefined {
  const date = readIsoDate(text);
  if (!date) return undefined;
  if (date.offsetMs === undefined && !date.isDay && zone !== 'UTC') return toInstant(zone, date.wall);
  return date.wall - (date.offsetMs ?? 0);
}

/**
 * Converts each code point to lower case separately, as Postgres does: `İ` becomes `i`, and a sigma at the end of a
 * word is like any other sigma.
 */
export function foldCase(text: string): string {
  let folded = '';
  for (const char of text) folded += String.fromCodePoint(char.toLowerCase().codePointAt(0) ?? 0);
  return folded;
}

/**
 * Tells whether a stored value equals the filter's value. Strings are compared regardless of case. If the filter's
 * value is a date, the stored string must be the same instant. Other values must have the same type.
 */
export function equalsValue(stored: unknown, value: Scalar, zone?: string): boolean {
  if (typeof value !== 'string') return stored === value;
  if (typeof stored !== 'string') return false;
  const instant = parseIsoDate(value, zone);
  return instant === undefined ? foldCase(stored) === foldCase(value) : parseIsoDate(stored, zone) === instant;
}

/**
 * Compares a stored value with the filter's value. The result is below 0 if the stored value is less, and undefined if
 * the values cannot be compared.
 */
export function compareValue(stored: unknown, value: string | number, zone?: string): number | undefined {
  if (typeof value === 'number') return typeof stored === 'number' ? stored - value : undefined;
  if (typeof stored !== 'string') return undefined;
  const instant = parseIsoDate(value, zone);
  if (instant === undefined) return compareText(foldCase(stored), foldCase(value));
  const storedInstant = parseIsoDate(stored, zone);
  return storedInstant === undefined ? undefined : storedInstant - instant;
}

/**
 * Compares strings by code points, which is also the order of their UTF-8 bytes. JavaScript would compare UTF-16 units.
 */
export function compareText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/**
 * Returns the value at a path in an object. A key that contains the dots (`data["a.b"]`) takes precedence over a nested
 * value.
 */
export function readValueAt(root: unknown, path: readonly string[]): unknown {
  if (path.length > 1) {
    const literal = readElementOrProperty(root, path.join('.'), false);
    if (literal !== undefined) return literal;
  }
  return path.reduce<unknown>((value, key) => readElementOrProperty(value, key, path.length > 1), root);
}

function readElementOrProperty(value: unknown, key: string, intoArrays: boolean): unknown {
  if (Array.isArray(value)) return intoArrays && /^[+-]?\d+$/.test(key) ? value.at(Number(key)) : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}
