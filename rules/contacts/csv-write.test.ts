import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readCsvLayout } from './csv-layout.ts';
import { previewCsv } from './csv-review.ts';
import { readCsvChunk } from './csv-rows.ts';
import { formatCsvCell, formatCsvRow } from './csv-write.ts';

it('escapes text that a spreadsheet would run as a formula, and keeps numbers', () => {
  expect(['=1+1', '+49 30', '-2', '@SUM(A1)', '\t=1', '\r=1'].map(formatCsvCell)).toEqual([
    ...["'=1+1", "'+49 30", "'-2", "'@SUM(A1)", "'\t=1", `"'\r=1"`],
  ]);
  expect([-2, 1.5, true, null, undefined, ''].map(formatCsvCell)).toEqual(['-2', '1.5', 'true', '', '', '']);
  expect(formatCsvCell('=HYPERLINK("http://x","y")')).toBe(`"'=HYPERLINK(""http://x"",""y"")"`);
});

it('a written file is imported with the same values', () => {
  const rows = [
    ['email', 'subscribed', 'name', 'n', 'tags', 'note'],
    ['ada@example.com', true, 'Ada, "the" first', 3, ['a', 'b'], 'two\r\nlines'],
    ['bob@example.com', false, '', -2, null, ' spaces '],
  ];
  const file = Buffer.from(rows.map(formatCsvRow).join(''));
  const layout = readCsvLayout(file);
  const read = readCsvChunk(file, { layout, at: layout.firstRowAt, limit: 10, text: false });
  expect(read.rows).toMatchObject([
    { ok: true, contact: { email: 'ada@example.com', subscribed: true, set: { name: 'Ada, "the" first', n: 3 } } },
    { ok: true, contact: { email: 'bob@example.com', subscribed: false, set: { n: -2 } } },
  ]);
});

it.each([[['Email', 'EMAIL', 'plan']], [['import_error', 'import_row']], [[' plan', 'plan', 'plan ', ' ', 'email ']]])(
  'an import restores an export with the data keys %j',
  (keys) => {
    const set = Object.fromEntries(keys.map((key, n) => [key, `value ${n}`]));
    const file = Buffer.from(
      formatCsvRow(['email', 'subscribed', ...keys]) + formatCsvRow(['a@x.com', true, ...Object.values(set)]),
    );
    for (const mapping of [{}, previewCsv(file, { knownKeys: [], knownTypes: {}, text: false, rows: 1 }).mapping]) {
      const layout = readCsvLayout(file, mapping);
      const { rows } = readCsvChunk(file, { layout, at: layout.firstRowAt, limit: 1, text: false });
      expect(rows).toEqual([{ ok: true, contact: { email: 'a@x.com', subscribed: true, set } }]);
    }
  },
);

const HOSTILE = [
  ...['5', '10.50', '-0', '01234', 'true', 'False', '[]', '{}', '["a"]', '{"a":1}', "'5", "''[]", "'quoted'", '=1'],
  ...[' padded ', '\tx', 'a\r\nb', '"', 'a,b;c', 'Infinity', '1e5', '1234567890123456', '🛑 é', '2026-01-31', "' "],
  ...[5, -2.5, 1e-7, 1234567890123456, 0.1, true, false, [], ['a', 'b,c', 1], {}, { a: { b: [null, '"'] } }],
];

it.each(HOSTILE.map((value) => [value]))('an import reads %j in an export as the original value', (value) => {
  const file = Buffer.from(formatCsvRow(['email', 'v', '5']) + formatCsvRow(['a@x.com', value, value]));
  const layout = readCsvLayout(file);
  const { rows } = readCsvChunk(file, { layout, at: layout.firstRowAt, limit: 1, text: false });
  expect(rows).toMatchObject([{ ok: true, contact: { set: { v: value, 5: value } } }]);
});

/**
 * Strings that are not empty. Each column has values of one type, because a column has one type per file, and an empty
 * string would be read as a missing value.
 */
const text = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.constantFrom(...HOSTILE.filter((value) => typeof value === 'string')),
);
const storable = text.filter(
  (value) => value === value.normalize('NFC') && !value.includes('\0') && value.isWellFormed(),
);
const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }));
const columns: fc.Arbitrary<unknown>[] = [
  storable,
  number.filter((value) => !Object.is(value, -0)),
  fc.boolean(),
  fc.oneof(
    fc.array(number.filter((value) => !Object.is(value, -0))),
    fc.dictionary(fc.constantFrom('a', 'b'), fc.boolean()),
  ),
];

it('an export that is imported gives the same export', () => {
  const row = fc.tuple(...columns.map((value) => fc.option(value, { nil: undefined })));
  const write = (rows: readonly (readonly unknown[])[]) =>
    rows.map((values, n) => formatCsvRow([`${n}@example.com`, ...values])).join('');
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 8 }), (rows) => {
      const first = formatCsvRow(['email', 's', 'n', 'b', 'j']) + write(rows);
      const file = Buffer.from(first);
      const layout = readCsvLayout(file);
      const read = readCsvChunk(file, { layout, at: layout.firstRowAt, limit: 10, text: false }).rows;
      const sets = read.map((one) => (one.ok ? one.contact.set : {}));
      const again = formatCsvRow(['email', 's', 'n', 'b', 'j']) + write(sets.map(({ s, n, b, j }) => [s, n, b, j]));
      expect(again).toBe(first);
      expect(sets.map(({ s, n, b, j }) => [s, n, b, j])).toEqual(rows);
    }),
    { numRuns: 300 },
  );
});

it('a record is quoted where necessary, and ends its line', () => {
  expect(formatCsvRow(['a', 'b,c', 'say "x"', 'two\nlines', null, -3])).toBe(
    'a,"b,c","say ""x""","two\nlines",,-3\r\n',
  );
});

it.each(['=1+1', '+49', '-1', '@SUM(A1)', '\tx', '\rx'])('%j gets an apostrophe, so it is not a formula', (cell) => {
  expect(formatCsvRow([cell]).replaceAll('"', '').startsWith(`'${cell[0]}`)).toBe(true);
});

it('quotes values with spaces at the start or end, because readers remove unquoted spaces', () => {
  expect(formatCsvRow([' padded ', 'plain'])).toBe('" padded ",plain\r\n');
});
