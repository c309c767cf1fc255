import { expect, it } from 'vitest';
import { parseAddresses } from './addresses.ts';

it('addresses are found in pasted text, each once', () => {
  expect(parseAddresses('ada@example.com, bo@example.com;\n"Cy" <cy@example.com> ADA@example.com')).toEqual([
    'ada@example.com',
    'bo@example.com',
    'cy@example.com',
  ]);
  expect(parseAddresses('  \n')).toEqual([]);
  expect(parseAddresses('nobody')).toEqual(['nobody']);
});

it('keeps quoted local parts whole, and reads names in quotes as names', () => {
  expect(
    parseAddresses(
      '"aaa..bbb"@example.jp, "a b, c"@x.example; "Doe, Jane" <jane@x.example>\no&m@münchen.example "x"y@z',
    ),
  ).toEqual(['"aaa..bbb"@example.jp', '"a b, c"@x.example', 'jane@x.example', 'o&m@münchen.example', 'y@z']);
});
