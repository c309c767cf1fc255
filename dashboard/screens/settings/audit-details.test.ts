import { expect, it } from 'vitest';
import { describeDetails } from './audit-details.ts';

it('shows the details of an audit entry as words', () => {
  expect(describeDetails({ name: 'Web shop', scopes: ['email:send', 'sms:send'], monthlyEmailLimit: null })).toBe(
    'Name: Web shop, scopes: email:send, sms:send, monthly email limit: none',
  );
  expect(describeDetails({ operatorLimits: { sendRatePerSecond: 2_000 } })).toBe(
    'Operator limits: (send rate per second: 2,000)',
  );
  expect(describeDetails({ role: 'MEMBER', mailed: true })).toBe('Role: member, mailed: yes');
  expect(describeDetails({})).toBe('');
});
