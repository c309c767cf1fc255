import { readIsoDate } from '../../rules/time/iso-date.ts';
import { toInstant } from '../../rules/time/local-time.ts';

/** The time zone of the input that is being parsed. */
let inputZone = 'UTC';

/**
 * Runs a synchronous function that parses input. During this call, date-times without an offset are in `zone`. Schemas
 * are created once for all projects and receive only the input, so a module variable holds the zone during the call.
 */
export function parseInZone<T>(zone: string, parse: () => T): T {
  const previousZone = inputZone;
  inputZone = zone;
  try {
    return parse();
  } finally {
    inputZone = previousZone;
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
  return new Date(date.isDay ? date.wall : toInstant(inputZone, date.wall));
}
