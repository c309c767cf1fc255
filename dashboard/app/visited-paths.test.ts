import { createMemoryHistory } from '@tanstack/react-router';
import { expect, it } from 'vitest';
import { isPreviousPath, recordVisitedPaths } from './visited-paths.ts';

it('tells whether the Back button leads to a list, whatever the filters of the list', () => {
  const history = createMemoryHistory({ initialEntries: ['/app/contacts?search=ada'] });
  recordVisitedPaths(history);
  expect(isPreviousPath(history, '/app/contacts')).toBe(false);
  history.push('/app/contacts/1');
  expect(isPreviousPath(history, '/app/contacts')).toBe(true);
  expect(isPreviousPath(history, '/app/campaigns')).toBe(false);
  history.push('/app/contacts/2');
  expect(isPreviousPath(history, '/app/contacts')).toBe(false);
  history.back();
  expect(isPreviousPath(history, '/app/contacts')).toBe(true);
});
