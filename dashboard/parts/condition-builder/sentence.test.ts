import { expect, it } from 'vitest';
import { listFilters, withoutFilter } from './sentence.ts';

const filter = (field: string) => ({ field, operator: 'exists' as const });
const TWO_GROUPS = {
  logic: 'OR' as const,
  groups: [{ filters: [filter('data.a'), filter('data.b')] }, { filters: [filter('data.c')] }],
};

it.each([
  [0, ['data.b', 'data.c']],
  [1, ['data.a', 'data.c']],
  [2, ['data.a', 'data.b']],
])('removes filter %i, and a group that is empty without it', (index, left) => {
  const condition = withoutFilter(TWO_GROUPS, index);
  if (!condition) throw new Error('no filter is left');
  expect(listFilters(condition).map(({ field }) => field)).toEqual(left);
  expect(condition.groups.every(({ filters }) => filters.length > 0)).toBe(true);
});

it('removes the condition with its last filter', () => {
  expect(withoutFilter({ logic: 'AND', groups: [{ filters: [filter('data.a')] }] }, 0)).toBeUndefined();
});
