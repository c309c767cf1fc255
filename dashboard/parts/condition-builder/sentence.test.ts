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
])('removes filter %i, and its group if the filter was the only one in the group', (index, left) => {
  const condition = withoutFilter(TWO_GROUPS, index);
  if (!condition) throw new Error('no filter is left');
  expect(listFilters(condition).map(({ field }) => field)).toEqual(left);
  expect(condition.groups.every(({ filters }) => filters.length > 0)).toBe(true);
});

it('removes the whole condition if its last filter is removed', () => {
  expect(withoutFilter({ logic: 'AND', groups: [{ filters: [filter('data.a')] }] }, 0)).toBeUndefined();
});
