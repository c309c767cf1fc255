import { readIsoDate } from '../../rules/time/iso-date.ts';
import { instantOf } from '../../rules/time/local-time.ts';

/** The time zone of the input that is being parsed. */
let inputZone = 'UTC';

/**
 * Runs a synchronous parse in which date-times without an offset are in this time zone. Schemas are created once for
 * all projects and receive only the input, so the zone is module state for the duration of the parse.
 */
export function parseInZone<T>(zone: string, parse: () => T): T {
  const before = inputZone;
  inputZone = zone;
  try {
    return parse();
  } finally {
    inputZone = before;
  }
}

/**
 * Reads an ISO 8601 date-time, or a date, which is midnight UTC. Undefined for any other text. Source: contract §1.1
 * Ids and times.
 */
export function readInstant(text: string): Date | undefined {
  const date = readIsoDate(text);
  if (!date) return undefined;
  if (date.offsetMs !== undefined) return new Date(date.wall - date.offsetMs);
  return new Date(date.isDay ? date.wall : instantOf(inputZone, date.wall));
}
