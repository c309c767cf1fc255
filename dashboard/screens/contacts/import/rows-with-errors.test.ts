import { expect, it } from 'vitest';
import { createErrorsCsv } from './rows-with-errors.ts';

it('rows with errors keep their cells beside the error, and no cell is a formula', () => {
  const rows = [
    {
      row: 3,
      email: 'nope',
      error: 'Must be an email address such as ada@example.com.',
      values: ['nope', '=1+1', 'a "b", c'],
    },
    { row: 9, email: '', error: 'The row cannot be read: check its quotes.', values: ['"open,1\n'] },
  ];
  expect(createErrorsCsv(['E-Mail', 'Note', 'City'], rows)).toBe(
    [
      'import_row,import_error,E-Mail,Note,City',
      `3,Must be an email address such as ada@example.com.,nope,'=1+1,"a ""b"", c"`,
      '9,The row cannot be read: check its quotes.,"""open,1\n"',
      '',
    ].join('\r\n'),
  );
});
