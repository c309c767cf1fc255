import { describe, expect, it } from 'vitest';
import { AppError } from '../errors.ts';
import { readCsvLayout } from './csv-layout.ts';
import { type CsvRow, countCsvRows, readCsvChunk } from './csv-rows.ts';

const toBytes = (text: string): Buffer => Buffer.from(text, 'utf8');

function readAll(file: Buffer, options: { limit?: number; text?: boolean } = {}): CsvRow[] {
  const layout = readCsvLayout(file);
  const rows: CsvRow[] = [];
  let at = layout.firstRowAt;
  for (let done = at >= file.length; !done; ) {
    const chunk = readCsvChunk(file, { layout, at, limit: options.limit ?? 100, text: options.text ?? false });
    rows.push(...chunk.rows);
    at = chunk.nextAt;
    done = chunk.done;
  }
  return rows;
}

function catchError(read: () => unknown): AppError {
  try {
    read();
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error('the file was read without an error');
}

const listEmails = (rows: CsvRow[]): string[] => rows.map((row) => (row.ok ? row.contact.email : `!${row.email}`));

describe('a CSV file of contacts', () => {
  it('reads a "no" in a column about email and SMS as a refusal of both', () => {
    expect(readAll(toBytes('email,Email & SMS opt-in\na@x.com,no\nb@x.com,yes\n'))).toEqual([
      { ok: true, contact: { email: 'a@x.com', subscribed: false, smsRefusals: ['subscribed'], set: {} } },
      { ok: true, contact: { email: 'b@x.com', subscribed: true, set: {} } },
    ]);
  });

  it('accepts a header in any case, a byte order mark, CRLF, quotes and blank lines', () => {
    const file = toBytes(
      '\ufeffEMail,"First, name",Subscribed\r\nAda@X.com,"A ""d"" a",Yes\r\n\r\nbob@x.com,"two\nlines",0\r\n',
    );
    expect(readAll(file)).toEqual([
      { ok: true, contact: { email: 'ada@x.com', subscribed: true, set: { 'First, name': 'A "d" a' } } },
      { ok: true, contact: { email: 'bob@x.com', subscribed: false, set: { 'First, name': 'two\nlines' } } },
    ]);
  });

  it.each([
    ['blank lines and rows of delimiters', 'email,n\n\n\na@x.com,1\n,,\n  nope,2\n', 2, [2, 4]],
    ['blank lines before the header', '\n\nemail,n\na@x.com,1\n', 4, [0]],
    ['CRLF', 'email,n\r\n\r\na@x.com,1\r\n,\r\n\r\nb@x.com,1\r\n', 2, [1, 4]],
    ['CR', 'email,n\r\ra@x.com,1\r', 2, [1]],
    ['a line with the separator, which a spreadsheet hides', 'sep=;\nemail;n\na@x.com;1\n', 2, [0]],
    ['line breaks in quotes', 'email,"n\nm"\na@x.com,"1\n2"\n\nb@x.com,1\n', 2, [0, 2]],
    ['an unreadable row', 'email,n\n"a@x.com,1\n\nb@x.com,1\n', 2, [0, 2]],
  ])('counts rows as a spreadsheet does: %s', (_, text, firstRow, positions) => {
    const file = toBytes(text);
    const layout = readCsvLayout(file);
    expect(layout.firstRow).toBe(firstRow);
    const range = { layout, text: false };
    expect(readCsvChunk(file, { ...range, at: layout.firstRowAt, limit: 100 }).positions).toEqual(positions);
    // The rows of two chunks have the same numbers.
    const first = readCsvChunk(file, { ...range, at: layout.firstRowAt, limit: 1 });
    const second = readCsvChunk(file, { ...range, at: first.nextAt, limit: 100 });
    const offset = first.rows.length + first.blankRows;
    expect([...first.positions, ...second.positions.map((position) => offset + position)]).toEqual(positions);
  });

  it('imports a contact as unsubscribed if a column of refusals has a value, and keeps the value', () => {
    const file = toBytes(
      'Email Address,UNSUB_TIME,EMAIL_BLACKLIST\na@x.com,2024-01-02 10:11:12,0\nb@x.com,,1\nc@x.com,,no\nd@x.com,,\n',
    );
    expect(readAll(file).map((row) => row.ok && [row.contact.subscribed, row.contact.set])).toEqual([
      [false, { UNSUB_TIME: '2024-01-02 10:11:12', EMAIL_BLACKLIST: '0' }],
      [false, { EMAIL_BLACKLIST: '1' }],
      [undefined, { EMAIL_BLACKLIST: 'no' }],
      [undefined, {}],
    ]);
    expect(readCsvLayout(file).notes).toHaveLength(2);
    expect(readCsvLayout(file, { UNSUB_TIME: null, EMAIL_BLACKLIST: null }).refusalColumns).toBeUndefined();
  });

  it('reads phone numbers with signs where numbers without signs are stored', () => {
    const file = toBytes('email,phone\na@x.com,+49 151 23456789\n');
    const layout = readCsvLayout(file, {}, { phone: 'number' });
    const { rows } = readCsvChunk(file, { layout, at: layout.firstRowAt, limit: 9, text: false });
    expect(rows).toMatchObject([{ ok: true, contact: { set: { phone: '+49 151 23456789' } } }]);
  });

  it('skips rows that contain only delimiters, which spreadsheet programs write below a table', () => {
    const file = toBytes('email;a;b\r\nx@x.com;1;2\r\n;;\r\n;;\r\ny@x.com;;\r\n;;\r\n;;');
    expect(listEmails(readAll(file, { limit: 1 }))).toEqual(['x@x.com', 'y@x.com']);
    expect(countCsvRows(file, readCsvLayout(file))).toBe(2);
  });

  it('ignores columns of refusals if there is a column `subscribed`, so that an import of an export changes nothing', () => {
    const rows = readAll(toBytes('email,subscribed,UNSUB_TIME\na@x.com,true,2024-01-02\n'));
    expect(rows.map((row) => row.ok && row.contact.subscribed)).toEqual([true]);
  });

  it('imports a contact as unsubscribed if it refused in one column and agreed in another', () => {
    const rows = readAll(toBytes('email,Opt-In,Unsubscribed from all email\na@x.com,yes,true\nb@x.com,yes,false\n'));
    expect(rows.map((row) => row.ok && row.contact.subscribed)).toEqual([false, true]);
  });

  it.each([
    ['numbers', ['-12.5', '0', '1234567890123456'], [-12.5, 0, 1234567890123456]],
    ['zeros at the end', ['1.10', '2'], ['1.10', '2']],
    ['zeros at the beginning', ['01234', '5'], ['01234', '5']],
    ['a negative zero', ['-0'], ['-0']],
    ['exponents and other bases', ['1e5', '0x10'], ['1e5', '0x10']],
    ['no numbers', ['Infinity', 'NaN', '+4917'], ['Infinity', 'NaN', '+4917']],
    ['a number beyond 2^53', ['9007199254740993'], ['9007199254740993']],
    ['a word among numbers', ['1', 'two', '3'], ['1', 'two', '3']],
    ['booleans', ['true', 'false'], [true, false]],
    ['booleans that an export would write in another way', ['TRUE'], ['TRUE']],
    ['lists', ['["a","b"]', '[]'], [['a', 'b'], []]],
    ['a list that an export would write in another way', ['[1, 2]'], ['[1, 2]']],
    ['dates', ['2026-01-31'], ['2026-01-31']],
  ])('gives a column one type, with which its values are exported unchanged: %s', (_, cells, values) => {
    const rows = cells.map((cell, n) => `p${n}@x.com,"${cell.replaceAll('"', '""')}"\n`);
    const read = readAll(toBytes(`email,v\n${rows.join('')}`));
    expect(read.map((row) => row.ok && row.contact.set.v)).toEqual(values);
  });

  it('keeps every value as text on request', () => {
    const file = toBytes('email,n,yes\na@x.com,-12.5,true\n');
    expect(readAll(file, { text: true })[0]).toMatchObject({ contact: { set: { n: '-12.5', yes: 'true' } } });
  });

  it('keeps the type of an existing field, and reports cells of another type', () => {
    const file = toBytes('email,seats,zip,pro\na@x.com,10.50,123,true\nb@x.com,many,5,1\n');
    const layout = readCsvLayout(file, {}, { seats: 'number', zip: 'text', pro: 'boolean' });
    const { rows } = readCsvChunk(file, { layout, at: layout.firstRowAt, limit: 9, text: false });
    expect(rows).toMatchObject([
      { ok: true, contact: { set: { seats: 10.5, zip: '123', pro: true } } },
      { ok: false, error: expect.stringMatching(/^seats: .*a number/) },
    ]);
  });

  it.each([
    ['sep=;\nemail;v\na@x.com;"1,2,3"\n', '1,2,3'],
    ['"sep=;"\nemail;v\na@x.com;"1,2,3"\n', '1,2,3'],
    ['email;"a, b, c, d"\na@x.com;x\n', 'x'],
    ['"last, first";email\nx;a@x.com\n', 'x'],
    ['email|v\na@x.com|x\n', 'x'],
    ['\ufeffemail,v\na@x.com,x\n', 'x'],
    ['email,v;w\na@x.com,x\n', 'x'],
  ])('detects the delimiter outside quotes, or reads it from a first line such as sep=; : %j', (text, value) => {
    const [row] = readAll(toBytes(text));
    expect(row).toMatchObject({ ok: true, contact: { email: 'a@x.com' } });
    expect(Object.values(row?.ok ? row.contact.set : {})).toEqual([value]);
  });

  it('has the same rows, whatever the size of the chunks in which it is read', () => {
    const lines = Array.from({ length: 25 }, (_, i) => `p${i}@x.com,"v,${i}\né"`).join('\r\n');
    const file = toBytes(`email,v\r\n${lines}`);
    const whole = readAll(file);
    expect(whole).toHaveLength(25);
    for (const limit of [1, 2, 7, 24, 25, 26]) expect(readAll(file, { limit })).toEqual(whole);
  });

  it('counts its unreadable rows: each unreadable line is one row', () => {
    const file = toBytes(`email,v\na@x.com,1\n${'"\n'.repeat(5)}b@x.com,"open\nc@x.com,5" pipe\n`);
    const layout = readCsvLayout(file);
    const chunk = readCsvChunk(file, { layout, at: layout.firstRowAt, limit: 100, text: false });
    expect(listEmails(chunk.rows)).toEqual(['a@x.com', '!"', '!"', '!"', '!"', '!"', '!b@x.com', 'c@x.com']);
    expect(chunk.unreadableRows).toBe(6);
  });

  it.each([
    ['open quotes', '"\n'],
    ['values with open quotes', 'a,"\n'],
    ['quotes that are opened in one line and closed in the next', 'a,"\nx","y\n'],
    ['an open quote, and lines that close it and open another', `a,"\n${'x","y\n'.repeat(500)}`],
    ['an open quote, and lines without quotes', `a,"\n${'text\n'.repeat(500)}`],
    ['quoted quotes', `"${'""'.repeat(2_000)}\n`],
    ['quotes inside of values', '5" pipe,5" pipe\n'],
    ['one line', ',"x'],
    [
      'blanks before quotes',
      `${' '.repeat(2_000)}"x
`,
    ],
    [
      'blanks after quotes',
      `a,"x"${' '.repeat(2_000)}y
`,
    ],
  ])('reads each byte at most four times, also in %s', (_, text) => {
    const file = toBytes(`email,v\n${text.repeat(Math.ceil(300_000 / text.length))}`);
    const layout = readCsvLayout(file);
    let bytesRead = 0;
    for (let at = layout.firstRowAt, done = false; !done; ) {
      const chunk = readCsvChunk(file, { layout, at, limit: 1_000, text: false });
      bytesRead += chunk.bytesRead;
      ({ nextAt: at, done } = chunk);
    }
    expect(bytesRead).toBeLessThan(4 * file.length);
  });

  it('may end its lines with CR alone, and skips blank lines, also before a row with an error', () => {
    expect(listEmails(readAll(toBytes('email,v\ra@x.com,1\r\rb@x.com,"two\rlines"\r')))).toEqual([
      'a@x.com',
      'b@x.com',
    ]);
    expect(listEmails(readAll(toBytes('email,v\na@x.com,1\n\n\nb@x.com,"open\n')))).toEqual(['a@x.com', '!b@x.com']);
  });

  it('is refused if it has more than 200 columns', () => {
    const wide = ['email', 'email', ...Array.from({ length: 300 }, (_, n) => `c${n}`), 'c1', 'x'.repeat(300)].join(',');
    for (const header of [`${wide}\n`, `${wide.replace('c0', '"c\n0"')}\n`, `${','.repeat(500)}\n`]) {
      const error = catchError(() => readCsvLayout(toBytes(`${header}a@x.com\n`)));
      expect(error.errors).toEqual([
        { field: 'file', code: 'too_big', message: 'A file can have at most 200 columns.' },
      ]);
    }
  });

  it('keeps its other rows if some rows have errors', () => {
    const file = toBytes('email,v\na@x.com,1\nnope,2\n,3\nb@x.com,"open\nc@x.com,"x"\nd@x.com,5" pipe\ne@x.com,"end\n');
    expect(listEmails(readAll(file))).toEqual(['a@x.com', '!nope', '!', '!b@x.com', 'c@x.com', 'd@x.com', '!e@x.com']);
  });

  it('may have spaces around quoted values, and keeps text after a closing quote unchanged', () => {
    const file = toBytes(
      '"email", "v"\t,"w" \n"a@x.com", "x, ""y""",\t" z " \nb@x.com,"two\nlines" ,5\nc@x.com,"Bob" Smith, "x" y\n',
    );
    expect(readAll(file).map((row) => row.ok && row.contact.set)).toEqual([
      { v: 'x, "y"', w: ' z ' },
      { v: 'two\nlines', w: '5' },
      { v: '"Bob" Smith', w: '"x" y' },
    ]);
  });

  it('keeps the rows between two stray quotes', () => {
    const file = toBytes('email,v,w\na@x.com,"open,1\nb@x.com,2,3\nc@x.com,4,"\nd@x.com,5,6\n');
    expect(listEmails(readAll(file))).toEqual(['!a@x.com', 'b@x.com', '!c@x.com', 'd@x.com']);
  });

  it('may use semicolons or tabs as delimiters, and may have rows with too few or too many cells', () => {
    expect(readAll(toBytes('name;email\nAda;a@x.com;extra\nBob\n'))).toEqual([
      { ok: true, contact: { email: 'a@x.com', subscribed: undefined, set: { name: 'Ada' } } },
      { ok: false, email: '', error: 'The row has no email address.' },
    ]);
    expect(listEmails(readAll(toBytes('name\temail\nAda\ta@x.com\n')))).toEqual(['a@x.com']);
  });

  it('never stores reserved names or a prototype', () => {
    const [row] = readAll(toBytes('email,id,__proto__,constructor\na@x.com,1,2,3\n'));
    expect(row).toMatchObject({ ok: true, contact: { set: { constructor: 3 } } });
    expect(Object.keys(row?.ok ? row.contact.set : {})).toEqual(['constructor']);
  });

  it('is refused when it is not UTF-8, is empty, or has no column email', () => {
    const catchLayoutError = (file: Uint8Array) => {
      try {
        readCsvLayout(file);
      } catch (error) {
        return error;
      }
      return undefined;
    };
    const files = [
      Buffer.of(0xff, 0xfe, 0x65, 0),
      Buffer.from([0x65, 0xe9, 0x0a]),
      toBytes(''),
      toBytes('name\nx\n'),
      toBytes('email,Email\n'),
      toBytes('em\0ail\n'),
      toBytes('"email\na@x.com\n'),
    ];
    for (const file of files) {
      expect(catchLayoutError(file)).toMatchObject({ code: 'VALIDATION_ERROR', errors: [{ field: 'file' }] });
    }
  });

  it('counts its rows for progress', () => {
    const file = toBytes('email,v\r\na@x.com,"x\r\ny"\r\n\r\nb@x.com,1');
    expect(countCsvRows(file, readCsvLayout(file))).toBe(2);
  });
});
