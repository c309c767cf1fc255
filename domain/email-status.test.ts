import { expect, test } from 'vitest';
import { statusAdvances, statusesBefore } from './email-status.ts';

test('a late delivery notice does not undo an open', () => {
  expect(statusAdvances('OPENED', 'DELIVERED')).toBe(false);
  expect(statusAdvances('SENT', 'DELIVERED')).toBe(true);
});

test('a bounce or a complaint ends an email, and nothing follows it', () => {
  expect(statusesBefore('BOUNCED')).toEqual(['PENDING', 'SENDING', 'HELD', 'SENT', 'DELIVERED', 'OPENED', 'CLICKED']);
  expect(statusAdvances('BOUNCED', 'OPENED')).toBe(false);
  expect(statusAdvances('FAILED', 'COMPLAINED')).toBe(false);
});

test('held mail goes on once it is released', () => {
  expect(statusAdvances('HELD', 'SENDING')).toBe(true);
});
