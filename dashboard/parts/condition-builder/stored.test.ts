import { expect, it } from 'vitest';
import { parseStoredCondition } from './stored.ts';

const pro = { field: 'event.plan', operator: 'equals', value: 'pro' };
const large = { field: 'event.total', operator: 'greaterThan', value: 100 };

it('a stored condition is read in each form that the API accepts', () => {
  const both = { logic: 'AND', groups: [{ filters: [pro, large] }] };
  expect(parseStoredCondition([pro, large])).toEqual(both);
  expect(parseStoredCondition({ operator: 'AND', conditions: [pro, large] })).toEqual(both);
  expect(parseStoredCondition({ operator: 'OR', conditions: [pro, large] })).toEqual({
    logic: 'OR',
    groups: [{ filters: [pro] }, { filters: [large] }],
  });
  expect(parseStoredCondition(pro)).toEqual({ logic: 'AND', groups: [{ filters: [pro] }] });
  const nested = {
    logic: 'OR',
    groups: [
      { filters: [pro], conditions: both },
      { filters: [], conditions: both },
    ],
  };
  expect(parseStoredCondition(nested)).toBe(nested);
});

it('returns undefined for a condition with an unknown part, which the builder would lose', () => {
  const strange = [
    ...[undefined, [], 'all', {}, { ...pro, note: 'mine' }, { ...pro, operator: 'like' }, { ...pro, value: { a: 1 } }],
    ...[{ logic: 'AND', groups: [] }, { logic: 'XOR', groups: [{ filters: [pro] }] }, [pro, 1]],
    ...[
      { logic: 'AND', groups: [{ filters: [pro], label: 'x' }] },
      { logic: 'AND', groups: [{ filters: [] }], v: 2 },
    ],
  ];
  for (const stored of strange) expect(parseStoredCondition(stored), JSON.stringify(stored)).toBeUndefined();
});
