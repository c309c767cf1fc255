import { expect, it } from 'vitest';
import { countDelivered } from './delivered.ts';

it('counts the reported deliveries if the provider reports them', () => {
  expect(countDelivered({ sent: 10, delivered: 7, bounced: 1 }, true)).toBe(7);
});

it('counts sent minus bounced emails otherwise, and never fewer than the reported ones', () => {
  expect(countDelivered({ sent: 10, delivered: 0, bounced: 1 }, false)).toBe(9);
  expect(countDelivered({ sent: 10, delivered: 2, bounced: 9 }, false)).toBe(2);
  expect(countDelivered({ sent: 0, delivered: 0, bounced: 3 }, false)).toBe(0);
});
