import { createMemoryHistory } from '@tanstack/react-router';
import { expect, it } from 'vitest';
import { isPreviousUrl, recordVisitedUrls } from './visited-urls.ts';

it('tells whether the Back button leads to a list, whatever the filters of the list', () => {
  const history = createMemoryHistory({ initialEntries: ['/app/contacts?search=ada'] });
  recordVisitedUrls(history);
  expect(isPreviousUrl(history, '/app/contacts')).toBe(false);
  history.push('/app/contacts/1');
  expect(isPreviousUrl(history, '/app/contacts')).toBe(true);
  expect(isPreviousUrl(history, '/app/campaigns')).toBe(false);
  history.push('/app/contacts/2');
  expect(isPreviousUrl(history, '/app/contacts')).toBe(false);
  history.back();
  expect(isPreviousUrl(history, '/app/contacts')).toBe(true);
});
