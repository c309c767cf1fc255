import { expect, it } from 'vitest';
import { readCsvLayout } from './csv-layout.ts';
import { readCsvChunk } from './csv-rows.ts';
import { formatCsvRow } from './csv-write.ts';

it.each(['=1+1', '+49 1', '-x', '@home', "'=1+1", "''-1", "'quoted'", '-3', "it's", '=a,"b"', '="007"'])(
  'a text %j survives an export unchanged, and never starts a formula in it',
  (text) => {
    const file = Buffer.from(formatCsvRow(['email', 'v']) + formatCsvRow(['a@x.com', text]));
    expect(formatCsvRow([text])).not.toMatch(/^"?[=+\-@]/);
    const layout = readCsvLayout(file);
    const { rows } = readCsvChunk(file, { layout, at: layout.firstRowAt, limit: 1, text: false });
    expect(rows).toMatchObject([{ ok: true, contact: { set: { v: text } } }]);
  },
);

it.each(['="007"', '"=""007"""'])(
  'a cell %s, which another program wrote as a formula, is read as the text 007',
  (cell) => {
    const file = Buffer.from(`email,v\na@x.com,${cell}\n`);
    const layout = readCsvLayout(file);
    const { rows } = readCsvChunk(file, { layout, at: layout.firstRowAt, limit: 1, text: false });
    expect(rows).toMatchObject([{ ok: true, contact: { set: { v: '007' } } }]);
  },
);
