import { expect, it } from 'vitest';
import { statusAdvances, statusesBefore } from './email-status.ts';

it('a late delivery notice does not undo an open', () => {
  expect(statusAdvances('OPENED', 'DELIVERED')).toBe(false);
  expect(statusAdvances('SENT', 'DELIVERED')).toBe(true);
});

it('a bounce or a complaint ends an email, and nothing follows it', () => {
  expect(statusesBefore('BOUNCED')).toEqual(['PENDING', 'SENDING', 'HELD', 'SENT', 'DELIVERED', 'OPENED', 'CLICKED']);
  expect(statusAdvances('BOUNCED', 'OPENED')).toBe(false);
  expect(statusAdvances('FAILED', 'COMPLAINED')).toBe(false);
});

it('a held email can be sent after its release', () => {
  expect(statusAdvances('HELD', 'SENDING')).toBe(true);
});
