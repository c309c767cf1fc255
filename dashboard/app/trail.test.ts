import { createMemoryHistory } from '@tanstack/react-router';
import { expect, it } from 'vitest';
import { followTrail, leadsBackTo } from './trail.ts';

it('knows whether the way back leads to a list, with whatever filters, or somewhere else', () => {
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
