import { expect, it } from 'vitest';
import { buildRefusal } from './refusal.ts';

it.each([
  ['5.1.1', '5.1.1 User unknown'],
  ['5.1.1', '5.1.1: User unknown'],
  ['5.1.1', '5.1.1 <ann@example.org>... User unknown\n5.1.1 Bye'],
  ['5.7.1', 'Mailbox unavailable\n5.7.1 Blocked by policy'],
  ['5.7.1', '(5.7.1) Blocked'],
  [null, '5.2.3.4 is listed at bl.example.net'],
  [null, 'User unknown, see rule 5.1.1'],
])('the enhanced code is %s in %j', (enhanced, text) => {
  expect(buildRefusal('rcpt', 550, text).enhanced).toBe(enhanced);
});
