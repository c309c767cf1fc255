import { expect, it } from 'vitest';
import { DELIVERY_EXPIRES_MS, nextAttemptAt } from './retry-schedule.ts';

const now = new Date('2026-01-01T00:00:00Z');
const expiresAt = new Date(now.getTime() + DELIVERY_EXPIRES_MS);
const waitSeconds = (attempts: number, random: number) =>
  ((nextAttemptAt({ attempts, now, expiresAt, random })?.getTime() ?? 0) - now.getTime()) / 1000;

it('makes the first retry after 30 to 60 seconds', () => {
  expect(waitSeconds(1, 0)).toBe(30);
  expect(waitSeconds(1, 1)).toBe(60);
});

it('doubles the wait before each retry, up to an hour', () => {
  expect(waitSeconds(2, 0)).toBe(60);
  expect(waitSeconds(5, 0)).toBe(480);
  expect(waitSeconds(20, 1)).toBe(3600);
});

it('makes the last attempt at the expiry, and none after it', () => {
  const near = new Date(expiresAt.getTime() - 5_000);
  expect(nextAttemptAt({ attempts: 9, now: near, expiresAt, random: 1 })).toEqual(expiresAt);
  expect(nextAttemptAt({ attempts: 9, now: expiresAt, expiresAt, random: 1 })).toBeUndefined();
});
