import { expect, it } from 'vitest';
import { postponeExpiry } from './postponed-expiry.ts';

const window = { from: '08:00', to: '21:00', days: [1, 2, 3, 4, 5], timezone: 'contact' };
const timing = { zone: 'Europe/Berlin', projectZone: 'UTC', window };
/** The expiry of a message whose first attempt was on Friday at 20:59:40. */
const expiresAt = new Date('2026-06-13T20:59:40+02:00');

it.each([
  ['while the window is still open', '2026-06-12T20:59:50+02:00', '2026-06-13T20:59:40+02:00'],
  ['on Monday, after 59 hours', '2026-06-15T08:00:30+02:00', '2026-06-16T07:59:40+02:00'],
  ['on Tuesday, after 11 more hours', '2026-06-16T08:00:00+02:00', '2026-06-16T18:59:40+02:00'],
  ['on Tuesday, after the last attempt', '2026-06-16T19:30:00+02:00', '2026-06-16T18:59:40+02:00'],
])('the time during which the window was closed does not count: %s', (_, now, expected) => {
  expect(postponeExpiry(expiresAt, timing, Date.parse(now))).toEqual(new Date(expected));
});

it('an expiry without a window, or of a message that has not been attempted, does not change', () => {
  const now = Date.parse('2026-06-20T12:00:00Z');
  expect(postponeExpiry(expiresAt, undefined, now)).toEqual(expiresAt);
  expect(postponeExpiry(expiresAt, { ...timing, window: null }, now)).toEqual(expiresAt);
  expect(postponeExpiry(expiresAt, timing, Date.parse('2026-06-12T12:00:00Z'))).toEqual(expiresAt);
});
