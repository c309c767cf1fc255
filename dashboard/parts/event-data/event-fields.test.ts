import { expect, it } from 'vitest';
import { collectEventFields } from './event-fields.ts';

it('lists the fields of the last payloads of an event, with their values', () => {
  const payloads = [
    { total: 40, plan: 'pro', cart: { currency: 'EUR', items: [{ id: 1 }] }, at: '2026-01-31T10:00:00Z', vip: true },
    { total: 12, plan: 'free', cart: { currency: 'EUR' }, note: null, 'a.b': 1 },
  ];
  expect(collectEventFields(payloads)).toEqual([
    { path: 'total', type: 'number', values: ['40', '12'] },
    { path: 'plan', type: 'string', values: ['pro', 'free'] },
    { path: 'cart.currency', type: 'string', values: ['EUR'] },
    { path: 'cart.items', type: 'array', values: [] },
    { path: 'at', type: 'date', values: ['2026-01-31T10:00:00Z'] },
    { path: 'vip', type: 'boolean', values: [] },
  ]);
});
