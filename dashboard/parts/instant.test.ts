import { expect, it } from 'vitest';
import { formatDetail } from './instant.tsx';

it('shows the year of an instant that is not in the current year', () => {
  const now = new Date(2026, 10, 29, 12);
  expect(formatDetail(new Date(2026, 10, 25, 10, 44, 58), now)).toMatch(/^Nov 25, 10:44:58 \S/);
  expect(formatDetail(new Date(1990, 0, 31, 10, 44, 58), now)).toMatch(/^Jan 31, 1990, 10:44:58 \S/);
});
