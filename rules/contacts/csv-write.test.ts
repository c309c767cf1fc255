import { expect, it } from 'vitest';
import { readCsvChunk, readCsvLayout } from './csv.ts';
import { csvCell, csvRow } from './csv-write.ts';

it('makes text of what a spreadsheet would run, and leaves numbers', () => {
  expect(['=1+1', '+49 30', '-2', '@SUM(A1)', '\t=1', '\r=1'].map(csvCell)).toEqual([
    ...["'=1+1", "'+49 30", "'-2", "'@SUM(A1)", "'\t=1", `"'\r=1"`],
  ]);
  expect([-2, 1.5, true, null, undefined, ''].map(csvCell)).toEqual(['-2', '1.5', 'true', '', '', '']);
  expect(csvCell('=HYPERLINK("http://x","y")')).toBe(`"'=HYPERLINK(""http://x"",""y"")"`);
});

it('is read by the import as it was', () => {
  const rows = [
    ['email', 'subscribed', 'name', 'n', 'tags', 'note'],
    ['ada@example.com', true, 'Ada, "the" first', 3, ['a', 'b'], 'two\r\nlines'],
    ['bob@example.com', false, '', -2, null, ' spaces '],
  ];
  const file = Buffer.from(rows.map(csvRow).join(''));
  const layout = readCsvLayout(file);
  const read = readCsvChunk(file, { layout, at: layout.firstRowAt, limit: 10, text: false });
  expect(read.rows).toMatchObject([
    { ok: true, contact: { email: 'ada@example.com', subscribed: true, set: { name: 'Ada, "the" first', n: 3 } } },
    { ok: true, contact: { email: 'bob@example.com', subscribed: false, set: { n: -2 } } },
  ]);
});

const HOSTILE = [
  ...['5', '10.50', '-0', '01234', 'true', 'False', '[]', '{}', '["a"]', '{"a":1}', "'5", "''[]", "'quoted'", '=1'],
  ...[' padded ', '\tx', 'a\r\nb', '"', 'a,b;c', 'Infinity', '1e5', '1234567890123456', '🛑 é', '2026-01-31', "' "],
  ...[5, -2.5, 1e-7, 1234567890123456, 0.1, true, false, [], ['a', 'b,c', 1], {}, { a: { b: [null, '"'] } }],
];

it.each(HOSTILE.map((value) => [value]))('an import reads %j of an export as it was', (value) => {
  const file = Buffer.from(csvRow(['email', 'v', '5']) + csvRow(['a@x.com', value, value]));
  const layout = readCsvLayout(file);
  const { rows } = readCsvChunk(file, { layout, at: layout.firstRowAt, limit: 1, text: false });
  expect(rows).toMatchObject([{ ok: true, contact: { set: { v: value, 5: value } } }]);
});
