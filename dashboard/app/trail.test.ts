import { createMemoryHistory } from '@tanstack/react-router';
import { expect, it } from 'vitest';
import { followTrail, leadsBackTo } from './trail.ts';

it('tells whether the way back leads to a list, with any filters, or elsewhere', () => {
  const history = createMemoryHistory({ initialEntries: ['/app/contacts?search=ada'] });
  followTrail(history);
  expect(leadsBackTo(history, '/app/contacts')).toBe(false);
  history.push('/app/contacts/1');
  expect(leadsBackTo(history, '/app/contacts')).toBe(true);
  expect(leadsBackTo(history, '/app/campaigns')).toBe(false);
  history.push('/app/contacts/2');
  expect(leadsBackTo(history, '/app/contacts')).toBe(false);
  history.back();
  expect(leadsBackTo(history, '/app/contacts')).toBe(true);
});
