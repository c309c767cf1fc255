import { describe, expect, it } from 'vitest';
import { ALL_DAYS, type SendingWindow } from '../time/sending-window.ts';
import { type DurationRequest, estimateSendingSeconds } from './duration.ts';
import { NO_TIMING } from './timing.ts';

const HOUR = 3_600;
const toMs = (text: string) => Date.parse(`${text}:00Z`);
/** 2026-11-23 is a Monday. */
const NOW = toMs('2026-11-23T09:00');
const DAY: SendingWindow = { from: '08:00', to: '20:00', days: [...ALL_DAYS] };

function estimateFor(changes: Partial<Omit<DurationRequest, 'clock'>> & { clock?: Partial<DurationRequest['clock']> }) {
  const { clock, ...rest } = changes;
  return estimateSendingSeconds({
    willSend: 1_000,
    ratePerSecond: 1,
    zones: [],
    scheduledAt: null,
    test: null,
    nowMs: NOW,
    ...rest,
    clock: { projectZone: 'UTC', window: null, ...NO_TIMING, ...clock },
  });
}

describe('the duration of a campaign', () => {
  it('is the number of emails divided by the send rate, or by a thousand per second without a send rate', () => {
    expect(estimateFor({ willSend: 30, ratePerSecond: 4 })).toBe(8);
    expect(estimateFor({ willSend: 3_500, ratePerSecond: 0 })).toBe(4);
    expect(estimateFor({ willSend: 0 })).toBe(0);
  });

  it('includes the nights in which the window is closed', () => {
    // 11 hours are left today, the night has 12, and the remaining emails take 4 hours tomorrow.
    expect(estimateFor({ willSend: 15 * HOUR, clock: { window: DAY } })).toBe(27 * HOUR);
    expect(estimateFor({ willSend: 11 * HOUR, clock: { window: DAY } })).toBe(11 * HOUR);
  });

  it('includes the time until a closed window opens', () => {
    expect(estimateFor({ nowMs: toMs('2026-11-23T21:00'), clock: { window: DAY } })).toBe(11 * HOUR + 1_000);
    expect(estimateFor({ scheduledAt: new Date(toMs('2026-11-23T21:00')), clock: { window: DAY } })).toBe(
      11 * HOUR + 1_000,
    );
    const mondays: SendingWindow = { ...DAY, days: [1] };
    expect(estimateFor({ willSend: 12 * HOUR, clock: { window: mondays } })).toBe((7 * 24 - 1 + 1) * HOUR);
  });

  it('extrapolates from the second week for a campaign of many weeks', () => {
    const days = 100;
    const estimate = estimateFor({
      willSend: days * 12 * HOUR,
      nowMs: toMs('2026-11-23T08:00'),
      clock: { window: DAY },
    });
    expect(Math.abs(estimate - days * 24 * HOUR)).toBeLessThan(24 * HOUR);
  });

  it('assumes sending to each zone only while the window is open there, at a send rate that all zones share', () => {
    const zones = [
      { zone: 'Europe/Berlin', contacts: 50 },
      { zone: 'Asia/Tokyo', contacts: 50 },
    ];
    // In Tokyo it is 18:00, so 2 hours are left; Berlin has 10.
    const own = { window: { ...DAY, timezone: 'contact' } };
    expect(estimateFor({ willSend: 4 * HOUR, zones, clock: own })).toBe(4 * HOUR);
    // Tokyo's third hour is in its next morning, 14 hours after its window closed.
    expect(estimateFor({ willSend: 6 * HOUR, zones, clock: own })).toBe((2 + 12 + 1) * HOUR);
  });

  it('lasts from the first local send time of its recipients to the last one', () => {
    const zones = [
      { zone: 'America/New_York', contacts: 999 },
      { zone: 'Europe/Berlin', contacts: 1 },
    ];
    const clock = { sendAtLocal: '2026-12-01T09:00' };
    expect(estimateFor({ zones, clock })).toBe(6 * HOUR + 999);
    expect(estimateFor({ zones: [{ zone: null, contacts: 3 }], clock })).toBe(1_000);
  });

  it('skips recipients whose local send time has passed, if the policy is SKIP', () => {
    const zones = [
      { zone: 'Asia/Tokyo', contacts: 30_000 },
      { zone: 'America/New_York', contacts: 500 },
    ];
    const estimateWith = (latePolicy: 'SKIP' | 'SEND') =>
      estimateFor({ willSend: 30_500, zones, clock: { sendAtLocal: '2026-11-23T09:00', latePolicy } });
    expect(estimateWith('SKIP')).toBe(5 * HOUR + 500);
    expect(estimateWith('SEND')).toBe(30_500);
  });

  it('includes the wait of a test, and the next day if the remaining recipients have a local send time', () => {
    const test = { share: 0.1, waitMinutes: 60 };
    expect(estimateFor({ test })).toBe(100 + HOUR + 900);
    expect(estimateFor({ test: { ...test, share: 1 } })).toBe(1_000);
    const clock = { sendAtLocal: '2026-12-01T09:00' };
    expect(estimateFor({ test, clock, zones: [{ zone: null, contacts: 1 }] })).toBe(24 * HOUR + 900);
  });
});
