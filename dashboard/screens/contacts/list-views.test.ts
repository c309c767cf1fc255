import { expect, it } from 'vitest';
import { listViews } from './list-views.ts';

const segment = (name: string, memberCount: number, condition: object | null = null) =>
  ({ id: `id-${name}`, name, memberCount, condition, type: condition ? 'DYNAMIC' : 'STATIC' }) as Parameters<
    typeof listViews
  >[0][number];

it('the views of contacts are the statuses and the three largest segments, by their rules if they have any', () => {
  const rules = { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] };
  const views = listViews([segment('Few', 1), segment('Beta', 7), segment('Pro', 9, rules), segment('More', 8)]);
  expect(views.map(({ name, count }) => [name, count])).toEqual([
    ['All', undefined],
    ['Subscribed', undefined],
    ['Not subscribed', undefined],
    ['Pro', 9],
    ['More', 8],
    ['Beta', 7],
  ]);
  expect(views[3]?.condition).toEqual(rules);
  expect(views[5]?.condition?.groups[0]?.filters).toEqual([{ field: 'segment.id-Beta', operator: 'memberOf' }]);
});
