import { expect, it } from 'vitest';
import { countOutcomes, isSkipped } from './outcomes.ts';

const STATS = { total: 20, pending: 2, skipped: 3, delivered: 11 };

it('counts immediate and later refusals as failed, so that the parts add up to all recipients', () => {
  const byReason = { expired: 1, 'bounced:policy': 1, 'bounced:dead_mailbox': 1, unsubscribed: 2, too_late: 1 };
  const parts = countOutcomes({ ...STATS, byReason });
  expect(parts).toEqual({ delivered: 11, underWay: 1, failed: 3, skipped: 3, pending: 2 });
  expect(Object.values(parts).reduce((sum, n) => sum + n, 0)).toBe(STATS.total);
});

it('never counts more deliveries than sent emails', () => {
  expect(countOutcomes({ ...STATS, delivered: 16, byReason: {} })).toMatchObject({ delivered: 15, underWay: 0 });
});

it('knows the reasons of skipped emails', () => {
  for (const reason of ['unsubscribed', 'suppressed:manual', 'sender_not_verified'])
    expect(isSkipped(reason)).toBe(true);
  for (const reason of ['expired', 'bounced:policy', 'template_error']) expect(isSkipped(reason)).toBe(false);
});
