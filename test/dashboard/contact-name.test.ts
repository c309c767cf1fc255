import { expect, it } from 'vitest';
import { findContactName } from '../../dashboard/parts/contact-name.ts';
import { NAME_KEYS } from '../../rules/contacts/contact-name.ts';

it('the dashboard reads a name from each data field in which the search of contacts looks for names', () => {
  for (const key of Object.values(NAME_KEYS).flat()) expect(findContactName({ [key]: 'Ada' })).toBe('Ada');
});
