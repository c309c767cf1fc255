import { expect, it } from 'vitest';
import { SatisfiedVisits } from './satisfied-visits.ts';

it('keeps at most 1,000 visits, and drops the highest, also after visits were removed', () => {
  const visits = new SatisfiedVisits(Array.from({ length: 1_000 }, (_, n) => 10 * n));
  expect(visits.delete(9_990)).toBe(true);
  visits.add(9_975);
  for (const visit of [1, 2, 3]) visits.add(visit);
  expect(visits.toJSON()).toHaveLength(1_000);
  expect(visits.has(9_980)).toBe(false);
  expect(visits.has(3)).toBe(true);
  visits.add(20_000);
  expect(visits.has(20_000)).toBe(false);
});
