import { expect, it } from 'vitest';
import { findContactName } from './contact-name.ts';

it('reads the name of a contact from the usual fields', () => {
  expect(findContactName({ firstName: 'Ada', lastName: 'Lovelace' })).toBe('Ada Lovelace');
  expect(findContactName({ last_name: ' Hopper ' })).toBe('Hopper');
  expect(findContactName({ name: 'Grace Hopper', firstName: '' })).toBe('Grace Hopper');
  for (const data of [{}, { firstName: 5 }, { name: 'x'.repeat(81) }]) expect(findContactName(data)).toBeUndefined();
});
