import { describe, expect, it } from 'vitest';
import type { Condition } from '../../../packages/client/src/operations.generated.ts';
import {
  type DraftFilter,
  findMissingPart,
  isComplete,
  listOperators,
  newCondition,
  newFilter,
  toCondition,
  toConditionDraft,
  withField,
  withOperator,
  withType,
  withValue,
} from './draft.ts';

const NESTED: Condition = {
  logic: 'OR',
  groups: [
    {
      filters: [
        { field: 'data.plan', operator: 'equals', value: 'pro' },
        { field: 'data.age', operator: 'greaterThan', value: 30 },
        { field: 'event.purchase', operator: 'triggeredWithin', value: 2, unit: 'weeks' },
      ],
      conditions: { logic: 'AND', groups: [{ filters: [{ field: 'subscribed', operator: 'equals', value: true }] }] },
    },
    { filters: [{ field: 'data.tags', operator: 'in', value: ['a', 1, true] }] },
  ],
};

const row = (given: Partial<DraftFilter>): DraftFilter => ({ ...newFilter(), ...given });
const sentOf = (filter: DraftFilter) =>
  toCondition({ logic: 'AND', groups: [{ key: 'g', filters: [filter] }] }).groups[0]?.filters[0];

describe('a draft', () => {
  it('returns the stored condition, at every depth and with lists of several types', () => {
    expect(toCondition(toConditionDraft(NESTED))).toEqual(NESTED);
    expect(isComplete(toConditionDraft(NESTED))).toBe(true);
  });

  it('is incomplete while a row lacks a part', () => {
    expect(isComplete(newCondition())).toBe(false);
    expect(findMissingPart(newFilter())).toBe('field');
    expect(findMissingPart(row({ field: 'data.plan' }))).toBe('value');
    expect(findMissingPart(row({ field: 'data.plan', operator: 'exists' }))).toBeUndefined();
    expect(findMissingPart(row({ field: 'data.plan', operator: 'in', list: [] }))).toBe('value');
    expect(findMissingPart(row({ field: 'data.age', type: 'number', text: 'many' }))).toBe('value');
    expect(findMissingPart(row({ field: 'event.buy', operator: 'triggeredWithin', text: '0' }))).toBe('value');
    expect(isComplete({ logic: 'AND', groups: [{ key: 'g', filters: [] }] })).toBe(false);
  });
});

describe('a row', () => {
  it('sends a value of its type', () => {
    expect(sentOf(row({ field: 'data.age', type: 'number', text: '30' }))).toMatchObject({ value: 30 });
    expect(sentOf(row({ field: 'data.age', type: 'text', text: '30' }))).toMatchObject({ value: '30' });
    expect(sentOf(row({ field: 'data.vip', type: 'boolean', text: 'false' }))).toMatchObject({ value: false });
    expect(sentOf(row({ field: 'data.age', operator: 'in', type: 'number', list: ['1', '2'] }))).toMatchObject({
      value: [1, 2],
    });
  });

  it('keeps its operator and value for another field that accepts them', () => {
    const text = row({ field: 'data.plan', operator: 'startsWith', text: 'pr' });
    const other = withField(text, { field: 'data.city', kind: 'data', type: 'text' });
    expect(other).toMatchObject({ field: 'data.city', operator: 'startsWith', text: 'pr' });
    const number = withField(text, { field: 'data.age', kind: 'data', type: 'number' });
    expect(number).toMatchObject({ operator: 'equals', type: 'number', text: '' });
    const event = withField(text, { field: 'event.purchase', kind: 'event' });
    expect(sentOf(event)).toEqual({ field: 'event.purchase', operator: 'triggered' });
    const subscribed = withField(text, { field: 'subscribed', kind: 'subscribed' });
    expect(sentOf(subscribed)).toEqual({ field: 'subscribed', operator: 'equals', value: true });
  });

  it('converts a single value to the first of a list, and back', () => {
    const one = row({ field: 'data.plan', text: 'pro' });
    const list = withOperator(one, 'in');
    expect(list.list).toEqual(['pro']);
    expect(withOperator(list, 'equals').text).toBe('pro');
    expect(sentOf(withOperator(one, 'within'))).toMatchObject({ value: 30, unit: 'days' });
    expect(withOperator(withOperator(one, 'within'), 'equals').text).toBe('');
  });

  it('keeps the types of stored values that stay in an edited list', () => {
    const stored = toConditionDraft(NESTED).groups[1]?.filters[0] ?? newFilter();
    const edited = withValue(stored, { list: ['b', '1', 'true', '2'] });
    expect(sentOf(edited)).toMatchObject({ value: ['b', 1, true, '2'] });
    expect(findMissingPart(edited)).toBeUndefined();
    const numbers = toConditionDraft({
      logic: 'AND',
      groups: [{ filters: [{ field: 'data.n', operator: 'in', value: [1, 'x'] }] }],
    });
    const first = numbers.groups[0]?.filters[0] ?? newFilter();
    expect(sentOf(withValue(first, { list: ['1', 'x', '2'] }))).toMatchObject({ value: [1, 'x', 2] });
    expect(findMissingPart(withValue(first, { list: ['1', 'x', 'y'] }))).toBe('value');
    const asText = withValue(withType(first, 'text', 'audience'), { list: ['1'] });
    expect(sentOf(asText)).toMatchObject({ value: ['1'] });
  });

  it('keeps the type of a stored number when it is edited, and when its operator is', () => {
    const amount = { field: 'data.n', operator: 'equals' as const, value: 10.5 };
    const stored =
      toConditionDraft({ logic: 'AND', groups: [{ filters: [amount] }] }).groups[0]?.filters[0] ?? newFilter();
    expect(sentOf(withValue(stored, { text: '11' }))).toMatchObject({ value: 11 });
    expect(sentOf(withOperator(stored, 'in'))).toMatchObject({ value: [10.5] });
    expect(sentOf(withOperator(stored, 'lessThan'))).toMatchObject({ value: 10.5 });
  });

  it('offers the operators of its type, and always the one that it has', () => {
    const number = row({ field: 'data.age', type: 'number' });
    expect(listOperators(number, 'audience')).not.toContain('contains');
    expect(listOperators({ ...number, operator: 'contains' }, 'audience')).toContain('contains');
    expect(withType(row({ field: 'data.age', operator: 'contains' }), 'boolean', 'audience').operator).toBe('equals');
  });
});
