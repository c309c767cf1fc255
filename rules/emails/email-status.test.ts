import { expect, it } from 'vitest';
import { canChangeStatus, listStatusesBefore } from './email-status.ts';

it('a late delivery notice does not undo an open', () => {
  expect(canChangeStatus('OPENED', 'DELIVERED')).toBe(false);
  expect(canChangeStatus('SENT', 'DELIVERED')).toBe(true);
});

it('a bounce or a complaint ends an email, and nothing follows it', () => {
  expect(listStatusesBefore('BOUNCED')).toEqual([
    'PENDING',
    'SENDING',
    'HELD',
    'SENT',
    'DELIVERED',
    'OPENED',
    'CLICKED',
  ]);
  expect(canChangeStatus('BOUNCED', 'OPENED')).toBe(false);
  expect(canChangeStatus('FAILED', 'COMPLAINED')).toBe(false);
});

it('a held email can be sent after its release', () => {
  expect(canChangeStatus('HELD', 'SENDING')).toBe(true);
});
