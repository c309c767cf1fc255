import { expect, it } from 'vitest';
import { contactName } from './contact-name.ts';

it('reads the name of a contact from the usual fields', () => {
  expect(contactName({ firstName: 'Ada', lastName: 'Lovelace' })).toBe('Ada Lovelace');
  expect(contactName({ last_name: ' Hopper ' })).toBe('Hopper');
  expect(contactName({ name: 'Grace Hopper', firstName: '' })).toBe('Grace Hopper');
  for (const data of [{}, { firstName: 5 }, { name: 'x'.repeat(81) }]) expect(contactName(data)).toBeUndefined();
});
