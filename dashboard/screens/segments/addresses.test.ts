import { expect, it } from 'vitest';
import { addressesIn } from './addresses.ts';

it('addresses are found in what people paste, each once', () => {
  expect(addressesIn('ada@example.com, bo@example.com;\n"Cy" <cy@example.com> ADA@example.com')).toEqual([
    'ada@example.com',
    'bo@example.com',
    'cy@example.com',
  ]);
  expect(addressesIn('  \n')).toEqual([]);
  expect(addressesIn('nobody')).toEqual(['nobody']);
});
