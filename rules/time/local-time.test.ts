import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DAY_MS,
  findNextTime,
  getWeekday,
  readLocalTime,
  toInstant,
  toWallTime,
  writeLocalTime,
} from './local-time.ts';
import { ALL_DAYS } from './sending-window.ts';
import { getUtcOffset, toCanonicalZone } from './zones.ts';

/**
 * Zones whose offset has half or quarter hours, zones without daylight saving time, a zone whose daylight saving time
 * is half an hour, and zones beyond the date line.
 */
const ZONES = [
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Asia/Kathmandu', 'Australia/Lord_Howe'],
  ...['America/St_Johns', 'Pacific/Chatham', 'Pacific/Kiritimati', 'Pacific/Apia', 'Africa/Casablanca', 'Asia/Tehran'],
];
const zone = fc.constantFrom(...ZONES);
const instant = fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2037, 0) });
const toWall = (text: string) => readLocalTime(text) ?? Number.NaN;
const toIso = (ms: number) => new Date(ms).toISOString();
const toInstantIso = (name: string, text: string) => toIso(toInstant(name, toWall(text)));

describe('a zone', () => {
  it('has one name, however it is written', () => {
    expect(toCanonicalZone('europe/berlin')).toBe('Europe/Berlin');
    expect(toCanonicalZone('US/Eastern')).toBe('America/New_York');
    expect(toCanonicalZone('Asia/Kolkata')).toBe(toCanonicalZone('Asia/Calcutta'));
  });

  it('is undefined for an offset, an unknown name or a value that is not a text', () => {
    for (const name of ['', '+02:00', 'Mars/Olympus', 'Europe/Berlin\n', 'x'.repeat(100), 7, null, undefined, {}])
      expect(toCanonicalZone(name)).toBeUndefined();
  });

  it('may have an offset of whole, half or quarter hours', () => {
    const summer = Date.UTC(2026, 6, 1);
    const offsetHours = (name: string) => getUtcOffset(name, summer) / 3_600_000;
    expect(['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Asia/Kathmandu', 'America/St_Johns'].map(offsetHours)).toEqual([
      ...[0, 2, 5.5, 5.75, -2.5],
    ]);
  });
});

describe('a local time', () => {
  it('becomes the first instant that has this local time, or a later one if this local time is skipped', () => {
    fc.assert(
      fc.property(zone, instant, (name, ms) => {
        const wall = Math.floor(ms / 60_000) * 60_000;
        const found = toInstant(name, wall);
        const shown = toWallTime(name, found);
        if (shown === wall) {
          // No earlier instant has this local time. Local time is set back by at most three hours, unless a day was
          // repeated.
          for (let back = 15; back <= 180; back += 15) expect(toWallTime(name, found - back * 60_000)).not.toBe(wall);
        } else {
          expect(shown).toBeGreaterThan(wall);
          expect(getUtcOffset(name, found)).not.toBe(getUtcOffset(name, found - DAY_MS));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('that is skipped in spring moves forward', () => {
    expect(toInstantIso('Europe/Berlin', '2026-03-29T02:30')).toBe('2026-03-29T01:30:00.000Z');
    expect(toInstantIso('Europe/Berlin', '2026-03-29T01:59')).toBe('2026-03-29T00:59:00.000Z');
    expect(toInstantIso('Europe/Berlin', '2026-03-29T03:00')).toBe('2026-03-29T01:00:00.000Z');
    // Half an hour is skipped there: 02:15 is 02:45.
    expect(toInstantIso('Australia/Lord_Howe', '2026-10-04T02:15')).toBe('2026-10-03T15:45:00.000Z');
    // A whole day was skipped.
    expect(toInstantIso('Pacific/Apia', '2011-12-30T09:00')).toBe('2011-12-30T19:00:00.000Z');
  });

  it('that occurs twice in autumn is the first of both instants', () => {
    expect(toInstantIso('Europe/Berlin', '2026-10-25T02:30')).toBe('2026-10-25T00:30:00.000Z');
    expect(toInstantIso('America/New_York', '2026-11-01T01:30')).toBe('2026-11-01T05:30:00.000Z');
    expect(toInstantIso('Australia/Lord_Howe', '2026-04-05T01:45')).toBe('2026-04-04T14:45:00.000Z');
  });

  it('has only one valid form', () => {
    expect(writeLocalTime(toWall('2026-12-01T09:00'))).toBe('2026-12-01T09:00');
    for (const text of [
      '2026-12-01',
      '2026-12-01T09:00Z',
      '2026-12-01T09:00:00',
      '2026-02-30T09:00',
      '2026-12-01T24:00',
    ])
      expect(readLocalTime(text)).toBeUndefined();
  });
});

describe('the next occurrence of a local time', () => {
  it('is after now, within nine days, on one of the given days', () => {
    const days = fc.subarray([...ALL_DAYS], { minLength: 1 });
    fc.assert(
      fc.property(zone, instant, days, fc.integer({ min: 0, max: 1439 }), (name, afterMs, allowed, minutes) => {
        const hour = new Date(minutes * 60_000).toISOString().slice(11, 16);
        const next = findNextTime(name, { hour, days: allowed, afterMs });
        expect(next).toBeGreaterThan(afterMs);
        expect(next - afterMs).toBeLessThanOrEqual(9 * DAY_MS);
        const shown = toWallTime(name, next);
        // Unless local time skips it, which happens at midnight in one of these zones.
        if (getUtcOffset(name, next - DAY_MS) !== getUtcOffset(name, next)) return;
        expect(allowed).toContain(getWeekday(shown));
        expect(new Date(shown).toISOString().slice(11, 16)).toBe(hour);
      }),
      { numRuns: 300 },
    );
  });

  it('does not include the current minute', () => {
    const nine = Date.UTC(2026, 10, 23, 9);
    const findNextNine = (afterMs: number) => toIso(findNextTime('UTC', { hour: '09:00', days: ALL_DAYS, afterMs }));
    expect(findNextNine(nine - 1)).toBe('2026-11-23T09:00:00.000Z');
    expect(findNextNine(nine)).toBe('2026-11-24T09:00:00.000Z');
  });

  it('can be a week away', () => {
    const monday = Date.UTC(2026, 10, 23, 9);
    expect(toIso(findNextTime('UTC', { hour: '09:00', days: [1], afterMs: monday }))).toBe('2026-11-30T09:00:00.000Z');
  });
});
