import { expect, it } from 'vitest';
import { csvRow } from './csv-write.ts';

it('a record is quoted where necessary, and ends its line', () => {
  expect(csvRow(['a', 'b,c', 'say "x"', 'two\nlines', null, -3])).toBe('a,"b,c","say ""x""","two\nlines",,-3\r\n');
});

it.each(['=1+1', '+49', '-1', '@SUM(A1)', '\tx', '\rx'])('%j is text and no formula', (cell) => {
  expect(csvRow([cell]).replaceAll('"', '').startsWith(`'${cell[0]}`)).toBe(true);
});

it('quotes outer spaces, which readers remove', () => {
  expect(csvRow([' padded ', 'plain'])).toBe('" padded ",plain\r\n');
});
