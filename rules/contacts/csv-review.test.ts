import { expect, it } from 'vitest';
import { readCsvLayout } from './csv-layout.ts';
import { previewCsv, reviewCsvChunk } from './csv-review.ts';

const FILE = Buffer.from(
  'email,n,when,constructor\na@x.com,1,2026-01-31,x\nnope,2,,\nB@x.com,x,2026-01-31T10:00:00Z,y\n"open,1,2,3\n',
);

it('a review has the addresses, the types, and at most the requested number of rows with errors and their cells', () => {
  const layout = readCsvLayout(FILE);
  const asked = { layout, at: layout.firstRowAt, limit: 100, text: false };
  expect(reviewCsvChunk(FILE, { ...asked, badMax: 10 })).toEqual({
    rows: 4,
    warned: 0,
    warnings: [],
    blankRows: 0,
    unreadableRows: 1,
    nextAt: FILE.length,
    done: true,
    emails: ['a@x.com', 'b@x.com'],
    subscribed: [null, null],
    silent: [false, false],
    bad: [
      {
        position: 1,
        email: 'nope',
        error: 'Must be an email address such as ada@example.com.',
        values: ['nope', '2', '', ''],
      },
      { position: 3, email: '"open', error: expect.any(String), values: ['"open,1,2,3\n'] },
    ],
    types: { n: { text: 2 }, when: { date: 2 }, constructor: { text: 2 } },
  });
  expect(reviewCsvChunk(FILE, { ...asked, badMax: 1 }).bad).toHaveLength(1);
});

it('the preview guesses the field of each column and reports errors of a mapping', () => {
  const file = Buffer.from("E-Mail;Seats\n'+bob@x.com;'-3\n");
  const preview = previewCsv(file, { knownKeys: ['seats'], knownTypes: {}, text: false, rows: 20 });
  expect(preview).toMatchObject({
    delimiter: ';',
    mapping: { 'E-Mail': 'email', Seats: 'data.seats' },
    errors: [],
    rows: 1,
  });
  expect(preview.first).toEqual([
    {
      number: 2,
      cells: ["'+bob@x.com", "'-3"],
      row: { ok: true, contact: { email: '+bob@x.com', subscribed: undefined, set: { seats: '-3' } } },
    },
  ]);
  const bad = previewCsv(file, {
    mapping: { 'E-Mail': null, Seats: 'data.seats' },
    knownKeys: [],
    knownTypes: {},
    text: false,
    rows: 20,
  });
  expect(bad.errors.map(({ message }) => message)).toEqual(['The first row has no column "email".']);
});
