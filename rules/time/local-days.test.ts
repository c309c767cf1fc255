import { expect, it } from 'vitest';
import { listLastDays, listLocalDays } from './local-days.ts';

const toMs = (text: string) => Date.parse(text);
const countHours = ({ fromMs, untilMs }: { fromMs: number; untilMs: number }) => (untilMs - fromMs) / 3_600_000;

it('returns the days of the zone without gaps, however long they are', () => {
  const days = listLocalDays('Europe/Berlin', toMs('2026-10-24T22:30:00Z'), toMs('2026-10-26T12:00:00Z'));
  expect(days.map(({ date }) => date)).toEqual(['2026-10-25', '2026-10-26']);
  expect(days.map(countHours)).toEqual([25, 24]);
  expect(days[0]?.fromMs).toBe(toMs('2026-10-24T22:00:00Z'));
  expect(days[0]?.untilMs).toBe(days[1]?.fromMs);
});

it('an instant just before midnight UTC belongs to the next day in the east, and to the same day in the west', () => {
  const now = toMs('2026-03-01T23:30:00Z');
  const listDates = (zone: string) => listLocalDays(zone, now, now).map(({ date }) => date);
  expect(listDates('UTC')).toEqual(['2026-03-01']);
  expect(listDates('Asia/Kolkata')).toEqual(['2026-03-02']);
  expect(listDates('America/New_York')).toEqual(['2026-03-01']);
});

it('the last days end with the current day', () => {
  const days = listLastDays('Asia/Kolkata', 30, toMs('2026-03-01T23:30:00Z'));
  expect([days.length, days[0]?.date, days.at(-1)?.date]).toEqual([30, '2026-02-01', '2026-03-02']);
});
