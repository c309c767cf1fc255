import { describe, expect, it } from 'vitest';
import { matchesEventData } from './evaluate.ts';
import { WaitFiltersInput } from './filters.ts';
import { compareText, foldCase, parseIsoDate, readValueAt } from './values.ts';

describe('an ISO date', () => {
  it.each([
    ['2026-11-21', '2026-11-21T00:00:00.000Z'],
    ['2026-11-21T10:30', '2026-11-21T10:30:00.000Z'],
    ['2026-11-21 10:30:05.1239', '2026-11-21T10:30:05.123Z'],
    ['2026-11-21T10:30:05+02:30', '2026-11-21T08:00:05.000Z'],
    ['2026-11-21T10:30:05-0100', '2026-11-21T11:30:05.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ])('the ISO date %s is %s', (text, instant) => {
    expect(new Date(parseIsoDate(text) ?? 0).toISOString()).toBe(instant);
  });

  it.each([
    '2026-02-29',
    '2026-13-01',
    '2026-11-21T24:00',
    '20261121',
    'today',
    '',
    '2026',
    '0000-01-01',
    '2026-11-21T10',
  ])('%j is not an ISO date', (text) => expect(parseIsoDate(text)).toBeUndefined());
});

it('each code point is converted to lower case separately, and text is ordered by code points', () => {
  expect(foldCase('İΣΑΣ Straße')).toBe('iσασ straße');
  expect(compareText('\uff61', '😀')).toBeLessThan(0);
});

it('a path reads own keys only, elements by number, and a key with a dot before the nested one', () => {
  expect(readValueAt({ a: { b: [1, 2] } }, ['a', 'b', '1'])).toBe(2);
  expect(readValueAt({ 'a.b': 1, a: { b: 2 } }, ['a', 'b'])).toBe(1);
  expect(readValueAt({}, ['constructor'])).toBeUndefined();
  expect(readValueAt(null, ['a'])).toBeUndefined();
});

it('the filters of a wait read the data of the event', () => {
  const now = new Date('2026-11-21T12:00:00Z');
  const filters = WaitFiltersInput.parse([
    { field: 'event.amount', operator: 'greaterThanOrEqual', value: 100 },
    { field: 'order.status', operator: 'notEquals', value: 'refunded' },
  ]);
  expect(matchesEventData(filters, { amount: 100, order: { status: 'paid' } }, { now })).toBe(true);
  expect(matchesEventData(filters, { amount: 100 }, { now })).toBe(true);
  expect(matchesEventData(filters, { amount: '100' }, { now })).toBe(false);
  expect(matchesEventData(filters, { amount: 100, order: { status: 'Refunded' } }, { now })).toBe(false);
  expect(matchesEventData(undefined, null, { now })).toBe(true);
});

describe('a number of a filter', () => {
  const matchesNumber = (operator: string, value: number, stored: unknown) => {
    const filters = WaitFiltersInput.parse([{ field: 'event.amount', operator, value }]);
    return matchesEventData(filters, { amount: stored }, { now: new Date('2026-11-21T12:00:00Z') });
  };

  it.each([
    ['0.3', 0.3, 0.3, 'equals'],
    ['the nearest number to a decimal with more digits', 0.3, Number('0.30000000000000001'), 'equals'],
    ['1000 written with an exponent', 1000, Number('1e3'), 'equals'],
    ['minus zero', 0, -0, 'equals'],
    ['a sum that is a hair larger', 0.3, 0.1 + 0.2, 'greaterThan'],
    ['the smallest number above 0', 0, Number.MIN_VALUE, 'greaterThan'],
    ['the largest number', -Number.MAX_VALUE, Number.MAX_VALUE, 'greaterThan'],
    ['the next whole number below the largest exact one', Number.MAX_SAFE_INTEGER, 2 ** 53 - 2, 'lessThan'],
  ])('compares exactly with %s', (_, value, stored, relation) => {
    for (const operator of ['equals', 'greaterThan', 'lessThan'])
      expect(matchesNumber(operator, value, stored), operator).toBe(operator === relation);
  });

  it.each([
    '1e3',
    '1000',
    '1000.0',
    '+1000',
    ' 1000',
    '1_000',
    '0x3e8',
    '1,000',
    '',
    [1000],
    { value: 1000 },
    null,
    true,
  ])('is not compared with %j', (stored) => {
    for (const operator of ['equals', 'greaterThan', 'lessThan', 'greaterThanOrEqual', 'lessThanOrEqual'])
      expect(matchesNumber(operator, 1000, stored), operator).toBe(false);
  });
});
