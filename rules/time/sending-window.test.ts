import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ALL_DAYS,
  findNextClosing,
  findNextOpening,
  isWindowOpen,
  type SendingWindow,
  SendingWindowInput,
} from './sending-window.ts';

const DAY: SendingWindow = { from: '08:00', to: '21:00', days: [...ALL_DAYS] };
const NIGHT_OF_FRIDAY: SendingWindow = { from: '22:00', to: '06:00', days: [5] };
const toMs = (text: string) => Date.parse(`${text}:00Z`);
const toIso = (ms: number) => new Date(ms).toISOString().slice(0, 16);

const hour = fc.integer({ min: 0, max: 95 }).map((n) => new Date(n * 900_000).toISOString().slice(11, 16));
const window = fc
  .record({ from: hour, to: hour, days: fc.subarray([...ALL_DAYS], { minLength: 1 }) })
  .filter(({ from, to }) => from !== to);
const zone = fc.constantFrom(
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Chatham'],
);
/** Days around changes of daylight saving time, and any other. */
const instant = fc.oneof(
  fc.integer({ min: toMs('2026-03-28T00:00'), max: toMs('2026-04-06T00:00') }),
  fc.integer({ min: toMs('2026-10-03T00:00'), max: toMs('2026-11-02T00:00') }),
  fc.integer({ min: toMs('2024-01-01T00:00'), max: toMs('2028-01-01T00:00') }),
);

describe('a sending window', () => {
  it('opens at the first instant at which it is open, and closes at the first at which it is not', () => {
    fc.assert(
      fc.property(window, zone, instant, (w, name, ms) => {
        const opens = findNextOpening(w, name, ms);
        expect(opens).toBeGreaterThanOrEqual(ms);
        expect(isWindowOpen(w, name, opens)).toBe(true);
        if (opens > ms) expect(isWindowOpen(w, name, opens - 1)).toBe(false);
        // Windows and offsets use quarters of an hour.
        for (let before = Math.ceil(ms / 900_000) * 900_000; before < opens; before += 900_000)
          expect(isWindowOpen(w, name, before)).toBe(false);
        const closes = findNextClosing(w, name, opens);
        expect(isWindowOpen(w, name, closes)).toBe(false);
        expect(isWindowOpen(w, name, closes - 1)).toBe(true);
        for (let during = opens; during < closes; during += 900_000) expect(isWindowOpen(w, name, during)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('is open from `from` until just before `to`', () => {
    expect(isWindowOpen(DAY, 'UTC', toMs('2026-11-23T07:59'))).toBe(false);
    expect(isWindowOpen(DAY, 'UTC', toMs('2026-11-23T08:00'))).toBe(true);
    expect(isWindowOpen(DAY, 'UTC', toMs('2026-11-23T21:00') - 1)).toBe(true);
    expect(isWindowOpen(DAY, 'UTC', toMs('2026-11-23T21:00'))).toBe(false);
    expect(toIso(findNextOpening(DAY, 'Asia/Kathmandu', toMs('2026-11-23T16:00')))).toBe('2026-11-24T02:15');
  });

  it('that includes midnight belongs to the day on which it opens', () => {
    const isOpenAt = (text: string) => isWindowOpen(NIGHT_OF_FRIDAY, 'UTC', toMs(text));
    expect(isOpenAt('2026-11-27T23:00')).toBe(true);
    expect(isOpenAt('2026-11-28T05:59')).toBe(true);
    expect(isOpenAt('2026-11-28T06:00')).toBe(false);
    expect(isOpenAt('2026-11-27T05:00')).toBe(false);
    expect(isOpenAt('2026-11-28T22:00')).toBe(false);
    expect(toIso(findNextOpening(NIGHT_OF_FRIDAY, 'UTC', toMs('2026-11-28T06:00')))).toBe('2026-12-04T22:00');
    expect(toIso(findNextClosing(NIGHT_OF_FRIDAY, 'UTC', toMs('2026-11-27T23:00')))).toBe('2026-11-28T06:00');
  });

  it('opens by local time in nights when daylight saving time changes', () => {
    const early: SendingWindow = { from: '02:30', to: '04:00', days: [...ALL_DAYS] };
    // Local time jumps from 02:00 to 03:00, which is inside the window.
    expect(toIso(findNextOpening(early, 'Europe/Berlin', toMs('2026-03-29T00:00')))).toBe('2026-03-29T01:00');
    expect(toIso(findNextOpening(early, 'Europe/Berlin', toMs('2026-10-25T00:00')))).toBe('2026-10-25T00:30');
    expect(toIso(findNextOpening(DAY, 'Europe/Berlin', toMs('2026-03-28T20:30')))).toBe('2026-03-29T06:00');
    expect(toIso(findNextOpening(DAY, 'Europe/Berlin', toMs('2026-10-24T20:30')))).toBe('2026-10-25T07:00');
  });

  it('is refused if it never opens, or has an unknown zone', () => {
    const listFaultPaths = (input: object) =>
      SendingWindowInput.safeParse(input).error?.issues.map((i) => i.path.join('.'));
    const fine = { from: '08:00', to: '21:00' };
    expect(SendingWindowInput.parse(fine)).toEqual(DAY);
    expect(SendingWindowInput.parse({ ...fine, timezone: 'contact', days: [7, 1, 1] })).toMatchObject({
      timezone: 'contact',
      days: [1, 7],
    });
    expect(listFaultPaths({ from: '08:00', to: '08:00' })).toEqual(['to']);
    expect(listFaultPaths({ ...fine, from: '8:00' })).toEqual(['from']);
    expect(listFaultPaths({ ...fine, to: '24:00' })).toEqual(['to']);
    expect(listFaultPaths({ ...fine, days: [] })).toEqual(['days']);
    expect(listFaultPaths({ ...fine, days: [0] })).toEqual(['days.0']);
    expect(listFaultPaths({ ...fine, timezone: 'Mars/Olympus' })).toEqual(['timezone']);
  });
});
