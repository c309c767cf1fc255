import { EMAIL_MAX_CHARS, parseMailbox } from '../emails/email-address.ts';
import { AppError, type FieldError, fieldError } from '../errors.ts';
import { applyData, consentPlaceOf, DATA_LIMITS, type Data } from '../filters/data-values.ts';
import { readWrittenNumber } from '../sms/phone.ts';
import { type ColumnType, expectedText, typeOfText, valueOfType } from './column-types.ts';
import { isRefusal, isSubscriptionState, readConsent } from './consent-words.ts';
import {
  type CsvMapping,
  type HasConsentWords,
  isConsentHeader,
  isSmsConsentHeader,
  isStateHeader,
  mapColumns,
  type SmsColumns,
} from './csv-mapping.ts';
import { CsvRecords, lineEndOf } from './csv-records.ts';
import { unescapeFormula } from './formula-text.ts';

/** Size of an uploaded file. Source: contract §1.11 Limits. */
export const CSV_MAX_BYTES = 5 * 1024 * 1024;
/** A longer record has more data than a contact may have. The limit also stops at a quote that is never closed. */
const RECORD_MAX_BYTES = 2 * DATA_LIMITS.bytes;
const DELIMITERS = [',', ';', '\t', '|'] as const;
/** The part of an unknown word that an error quotes. */
const WORD_SHOWN_CHARS = 40;
const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;
/** The part of a file that is enough to detect its delimiter. */
const SAMPLE_BYTES = 64 * 1024;
const SAMPLE_LINES = 20;
/** The line that tells spreadsheets the delimiter. */
const SEPARATOR_LINE = /^sep=([,;\t|])\r?$/i;
const TOO_MANY_COLUMNS = `A file has at most ${DATA_LIMITS.keys} columns.`;
/** A file with more unreadable rows is not a CSV file that can be imported, so reading stops. */
export const UNREADABLE_ROWS_MAX = 1_000;

/** Content of the header row. It is stored with the job, so that reading can continue anywhere in the file. */
export interface CsvLayout {
  delimiter: (typeof DELIMITERS)[number];
  /**
   * Fields by column: `email` and `subscribed` in lower case, other headers as written or mapped, '' for ignored
   * ones.
   */
  columns: string[];
  /** Columns whose values stay text. Absent in jobs of earlier versions. */
  textColumns?: number[];
  /**
   * Type of each column's values, one for the whole file. A job of an earlier version has no types; each of its cells
   * is typed separately.
   */
  types?: ColumnType[];
  /** Columns whose stored values have one type. A cell of another type is an error of its row. */
  knownColumns?: number[];
  /** Columns such as `Unsubscribed`, whose cells record a refusal. Their values are data too. */
  refusalColumns?: number[];
  /** Columns such as `Accepts SMS` and `SMS Opt-Out`. Their values are data too. */
  smsColumns?: SmsColumns;
  /** Sentences about columns that were recognized by their names, for the result of the import. */
  notes?: string[];
  /** Byte offset of the first row. */
  firstRowAt: number;
}

/** The types of fields that have one, by key. */
export type KnownTypes = Readonly<Record<string, ColumnType>>;

export interface CsvContact {
  email: string;
  subscribed: boolean | undefined;
  /** False if the cell of a consent column is empty; a new contact then starts unsubscribed. */
  subscribedIfNew?: false;
  /** True if a cell refuses SMS. */
  refusesSms?: true;
  set: Data;
}

/** One row of the file: a contact, or the error of the row. */
export type CsvRow =
  /** `warning`: the row is imported, but one of its values cannot be used. */
  { ok: true; contact: CsvContact; warning?: string } | { ok: false; email: string; error: string };

export interface CsvChunk {
  rows: CsvRow[];
  /** The number of rows that are not readable as CSV. */
  unreadableRows: number;
  /** Byte offset to read on from. */
  nextAt: number;
  done: boolean;
  /** Number of bytes read, a measure of cost. */
  bytesRead: number;
}

/** Everything before the rows. */
export interface CsvHead extends Pick<CsvLayout, 'delimiter' | 'firstRowAt'> {
  /** The headers as written, without surrounding spaces. */
  headers: string[];
}

/**
 * Reads the header row of a CSV file: UTF-8 with or without a mark, separated by commas, semicolons, tabs or bars, and the
 * type of each column (`withTypes`).
 * @throws AppError VALIDATION_ERROR when it is not UTF-8, or has no column `email` or headers that cannot be fields
 */
export function readCsvLayout(file: Uint8Array, mapping: CsvMapping = {}, known: KnownTypes = {}): CsvLayout {
  const head = readCsvHead(file);
  const { layout, errors } = layOut(head, mapping, consentWordsOf(file, head));
  if (errors.length > 0) throw new AppError('VALIDATION_ERROR', { errors });
  return withTypes(file, layout, known);
}

/**
 * Gives each column one type: the type of its field if the project has values of one type, else the common type of
 * all its cells, else text. `1.10` therefore makes a column of versions text, and nothing is stored that could not be
 * written back.
 */
export function withTypes(file: Uint8Array, layout: CsvLayout, known: KnownTypes): CsvLayout {
  const bytes = bytesOf(file);
  const { delimiter, columns, textColumns = [] } = layout;
  const seen: (ColumnType | undefined)[] = columns.map(() => undefined);
  const records = new CsvRecords(bytes, { delimiter, recordMaxBytes: RECORD_MAX_BYTES, at: layout.firstRowAt });
  const emailAt = columns.indexOf('email');
  for (let unreadableRows = 0; unreadableRows < UNREADABLE_ROWS_MAX; ) {
    const cells = records.next(columns.length);
    if (cells === undefined) break;
    if (!Array.isArray(cells)) unreadableRows += 1;
    // A row without an address is not imported, so it does not count.
    else if (parseMailbox(cells[emailAt] ?? '').ok) noteTypes(seen, cells);
  }
  // People write phone numbers with and without signs, so stored digits must not refuse +49 151 …
  const isKnown = (column: string) => column !== 'phone' && Object.hasOwn(known, column);
  const knownColumns = columns.flatMap((column, index) =>
    isKnown(column) && !textColumns.includes(index) ? [index] : [],
  );
  const types = columns.map((column, index) => {
    if (textColumns.includes(index)) return 'text';
    return (isKnown(column) ? known[column] : seen[index]) ?? 'text';
  });
  return { ...layout, types, ...(knownColumns.length > 0 && { knownColumns }) };
}

function noteTypes(seen: (ColumnType | undefined)[], cells: readonly string[]): void {
  for (const [index, cell] of cells.entries()) {
    const before = seen[index];
    if (cell === '' || before === 'text') continue;
    const type = unescapeFormula(cell) === undefined ? typeOfText(cell) : 'text';
    seen[index] = before === undefined || before === type ? type : 'text';
  }
}

/** @throws AppError VALIDATION_ERROR when the file is no UTF-8 text, or has too many columns */
export function readCsvHead(file: Uint8Array): CsvHead {
  refuseOtherEncodings(file);
  const bytes = bytesOf(file);
  const mark = bytes.subarray(0, 3).equals(Buffer.of(0xef, 0xbb, 0xbf)) ? 3 : 0;
  const lineEnd = lineEndOf(bytes);
  const firstEnd = indexOf(bytes, lineEnd, mark);
  const told = SEPARATOR_LINE.exec(bytes.toString('utf8', mark, Math.min(firstEnd, mark + 8)))?.[1];
  const start = told === undefined ? mark : Math.min(firstEnd + 1, bytes.length);
  const beginning = bytes.toString('utf8', start, Math.min(bytes.length, start + SAMPLE_BYTES));
  const delimiter = DELIMITERS.find((one) => one === told) ?? delimiterOf(beginning, String.fromCharCode(lineEnd));
  if (hasTooManyColumns(bytes, { start, delimiter, lineEnd })) throw fieldError('file', TOO_MANY_COLUMNS, 'too_big');
  const records = new CsvRecords(bytes, { delimiter, recordMaxBytes: RECORD_MAX_BYTES, at: start });
  const headers = (records.header() ?? []).map((header) => (unescapeFormula(header) ?? header).trim().normalize('NFC'));
  return { delimiter, headers, firstRowAt: records.at };
}

/** Returns the layout of a file for its head and a mapping, with the errors. */
export function layOut(
  { headers, delimiter, firstRowAt }: CsvHead,
  mapping: CsvMapping,
  hasConsentWords: HasConsentWords,
): { layout: CsvLayout; errors: FieldError[] } {
  const { columns, textColumns, refusalColumns, sms, consentAt, errors } = mapColumns(
    headers,
    mapping,
    hasConsentWords,
  );
  const notes = [
    ...(consentAt === undefined ? [] : [consentNote(headers[consentAt] ?? '')]),
    ...refusalColumns.map((column) => refusalNote(headers[column] ?? '')),
    ...headers
      .filter((header) => isConsentHeader(header) && !columns.includes('subscribed') && !Object.hasOwn(mapping, header))
      .map(unreadNote),
    ...sms.consent.map((column) => smsConsentNote(headers[column] ?? '')),
    ...sms.refusal.map((column) => smsRefusalNote(headers[column] ?? '')),
    ...headers
      .filter((header, column) => isSmsConsentHeader(header) && columns[column] !== '' && !sms.consent.includes(column))
      .map(unreadNote),
  ];
  const layout: CsvLayout = {
    delimiter,
    columns,
    firstRowAt,
    ...(textColumns.length > 0 && { textColumns }),
    ...(refusalColumns.length > 0 && { refusalColumns }),
    ...(sms.consent.length + sms.refusal.length > 0 && { smsColumns: sms }),
    ...(notes.length > 0 && { notes }),
  };
  return { layout, errors: [...errors, ...headerFaults(columns)] };
}

const consentNote = (header: string) =>
  `The column "${header}" is read as consent to email (subscribed). Map it to data.<name> to keep its values instead.`;
const refusalNote = (header: string) =>
  `A contact with a value other than no in the column "${header}" is imported as unsubscribed. Map it to null to ignore it.`;
const smsConsentNote = (header: string) =>
  `The column "${header}" is read as consent to SMS: a word for no ends marketing SMS to the contact, and yes lifts no stop. Map it to null to ignore it.`;
const smsRefusalNote = (header: string) =>
  `A value other than no in the column "${header}" ends marketing SMS to the contact. Map it to null to ignore it.`;
const unreadNote = (header: string) =>
  `The column "${header}" is not read as consent, because none of its values is a word for it, such as yes or no.`;

/**
 * Returns a test of whether any cell of a column is a word of consent. It reads the file at most once, when it is first
 * called.
 */
export function consentWordsOf(file: Uint8Array, head: CsvHead): HasConsentWords {
  let found: ReadonlySet<number> | undefined;
  return (column) => {
    found ??= findConsentWords(file, head);
    return found.has(column);
  };
}

/** Finds the columns with a name of consent and a word of consent. */
function findConsentWords(file: Uint8Array, { headers, delimiter, firstRowAt }: CsvHead): ReadonlySet<number> {
  const isNamed = (header: string) => isConsentHeader(header) || isStateHeader(header) || isSmsConsentHeader(header);
  const open = new Set(headers.flatMap((header, column) => (isNamed(header) ? [column] : [])));
  const found = new Set<number>();
  const records = new CsvRecords(bytesOf(file), { delimiter, recordMaxBytes: RECORD_MAX_BYTES, at: firstRowAt });
  for (let unreadableRows = 0; open.size > 0 && unreadableRows < UNREADABLE_ROWS_MAX; ) {
    const cells = records.next(headers.length);
    if (cells === undefined) break;
    if (!Array.isArray(cells)) {
      unreadableRows += 1;
      continue;
    }
    for (const column of open) {
      const cell = cells[column] ?? '';
      if (isStateHeader(headers[column] ?? '') ? !isSubscriptionState(cell) : readConsent(cell) === undefined) continue;
      open.delete(column);
      found.add(column);
    }
  }
  return found;
}

/**
 * Returns the number of rows from an offset on, without blank lines and rows of delimiters only: lines that do not end
 * inside quotes. For progress only.
 */
export function countCsvRows(file: Uint8Array, layout: CsvLayout): number {
  const lineEnd = lineEndOf(bytesOf(file));
  let rows = 0;
  const delimiter = layout.delimiter.charCodeAt(0);
  let quoted = false;
  let content = false;
  for (let at = layout.firstRowAt; at < file.length; at += 1) {
    const byte = file[at];
    if (byte === QUOTE) quoted = !quoted;
    if (byte === lineEnd && !quoted) {
      if (content) rows += 1;
      content = false;
    } else if (byte !== CR && byte !== delimiter) content = true;
  }
  return content ? rows + 1 : rows;
}

/** The part of a file to read, and how to read it. */
export interface CsvRange {
  layout: CsvLayout;
  at: number;
  limit: number;
  /** Keeps every value as text. */
  text: boolean;
  /** ISO 3166-1 alpha-2: the country of phone numbers without a calling code. Null if the project has no country. */
  phoneCountry?: string | null;
}

/**
 * Reads up to `limit` rows from a byte offset on. An unreadable row is one row with errors, and reading continues with
 * the next line. A quote that is never closed therefore affects only its own row, and a file of such rows takes no
 * longer than any other. Values are typed (numbers, booleans) unless `text`; ISO dates stay text, which is how dates
 * are stored. `see` receives each row with its cells, or its line if it has no cells.
 */
export function readCsvChunk(
  file: Uint8Array,
  p: CsvRange,
  see?: (row: CsvRow, cells: string[] | { unreadable: string }) => void,
): CsvChunk {
  const bytes = bytesOf(file);
  const { delimiter, columns } = p.layout;
  const records = new CsvRecords(bytes, { delimiter, recordMaxBytes: RECORD_MAX_BYTES, at: p.at });
  const rows: CsvRow[] = [];
  let unreadableRows = 0;
  while (rows.length < p.limit) {
    const record = records.next(columns.length);
    if (record === undefined) break;
    const readable = Array.isArray(record);
    if (!readable) unreadableRows += 1;
    const row = readable
      ? withWarning(readRow(record.map(normalizeCell), p), p)
      : unreadableRow(record.unreadable, p.layout);
    see?.(row, record);
    rows.push(row);
  }
  return { rows, unreadableRows, nextAt: records.at, done: records.at >= bytes.length, bytesRead: records.bytesRead };
}

/** Returns a cell in the form that filters and templates compare (contract §1.16 Unicode). */
function normalizeCell(cell: string): string {
  return cell.normalize('NFC');
}

function unreadableRow(line: string, layout: CsvLayout): CsvRow {
  const column = layout.columns.indexOf('email');
  const email = line.split(layout.delimiter, column + 1)[column] ?? '';
  return {
    ok: false,
    email: email.trim().slice(0, EMAIL_MAX_CHARS),
    error: 'The row cannot be read: check its quotes.',
  };
}

function readRow(values: string[], { layout, text }: { layout: CsvLayout; text: boolean }): CsvRow {
  let email = '';
  let consent: Pick<CsvContact, 'subscribed' | 'subscribedIfNew'> = { subscribed: undefined };
  let unknownWord: { column: string; word: string } | undefined;
  let refusesSms = false;
  let wrongType: string | undefined;
  const data: Data = {};
  for (const [index, column] of layout.columns.entries()) {
    const cell = values[index] ?? '';
    if (column === 'email') email = (unescapeFormula(cell) ?? cell).trim();
    else if (column === 'subscribed') {
      const word = wordOf(cell);
      const subscribed = readConsent(word);
      consent = word === '' ? { subscribed: undefined, subscribedIfNew: false } : { subscribed };
      if (word !== '' && subscribed === undefined) unknownWord = { column, word };
    } else if (column !== '' && cell !== '') {
      if (layout.smsColumns?.consent.includes(index)) {
        const consents = readConsent(wordOf(cell));
        if (consents === undefined && wordOf(cell) !== '') unknownWord = { column, word: wordOf(cell) };
        refusesSms ||= consents === false;
      }
      const value = text ? (unescapeFormula(cell) ?? cell) : valueOfCell(cell, layout, index);
      if (value === undefined) wrongType ??= expectedText(column, layout.types?.[index] ?? 'text');
      else data[column] = value;
    }
  }
  const isRefused = (index: number) => isRefusal(wordOf(values[index] ?? ''));
  if (layout.refusalColumns?.some(isRefused)) consent = { subscribed: false };
  refusesSms ||= layout.smsColumns?.refusal.some(isRefused) ?? false;
  if (email === '') return { ok: false, email, error: 'The row has no email.' };
  const mailbox = parseMailbox(email);
  if (!mailbox.ok) return { ok: false, email: email.slice(0, EMAIL_MAX_CHARS), error: `${mailbox.reason}.` };
  if (unknownWord !== undefined) return { ok: false, email: mailbox.email, error: unknownConsent(unknownWord) };
  if (wrongType !== undefined) return { ok: false, email: mailbox.email, error: wrongType };
  const { set, errors } = applyData(data);
  const [fault] = errors;
  return fault
    ? { ok: false, email: mailbox.email, error: `${fault.field}: ${fault.message}` }
    : { ok: true, contact: { email: mailbox.email, ...consent, ...(refusesSms && { refusesSms }), set } };
}

/** Returns the word of a cell about consent, without the mark of an export. */
function wordOf(cell: string): string {
  return (unescapeFormula(cell) ?? cell).trim();
}

/** Adds a warning for an unreadable phone number, which is stored as text and gets no SMS. */
function withWarning(row: CsvRow, { phoneCountry = null }: CsvRange): CsvRow {
  if (!row.ok || row.contact.set.phone === undefined) return row;
  const written = String(row.contact.set.phone);
  if (readWrittenNumber(written, phoneCountry)) return row;
  const shown = [...written].slice(0, WORD_SHOWN_CHARS).join('');
  const remedy =
    phoneCountry === null
      ? 'write it with its country code, such as +49 151 23456789, or set phoneCountry of the project'
      : `it is no number of ${phoneCountry}; write it with its country code, such as +49 151 23456789`;
  return { ...row, warning: `phone: "${shown}" cannot be read: ${remedy}.` };
}

function unknownConsent({ column, word }: { column: string; word: string }): string {
  const shown = [...word].slice(0, WORD_SHOWN_CHARS).join('');
  return `${column}: "${shown}" is not a word for consent. Write yes, no, or leave the cell empty.`;
}

/** Returns the value of a cell by the type of its column. Undefined if its field has values of another type. */
function valueOfCell(cell: string, { types, knownColumns = [], textColumns }: CsvLayout, index: number): unknown {
  // An export marks text that looks like another type.
  const marked = unescapeFormula(cell);
  if (textColumns?.includes(index)) return marked ?? cell;
  if (types === undefined) return marked ?? guessValue(cell);
  const type = types[index] ?? 'text';
  if (marked !== undefined) return type === 'text' || !knownColumns.includes(index) ? marked : undefined;
  return valueOfType(cell, type);
}

/** Guesses the value of a cell of a job from before columns had types. */
function guessValue(value: string): unknown {
  if (/^-?(0|[1-9]\d{0,14})(\.\d{1,10})?$/.test(value)) return Number(value);
  const word = value.toLowerCase();
  return word === 'true' || word === 'false' ? word === 'true' : value;
}

function refuseOtherEncodings(file: Uint8Array): void {
  if (file.length === 0) throw fieldError('file', 'The file is empty.', 'too_small');
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(file);
  } catch (cause) {
    throw otherEncoding('The file is not UTF-8 text.', cause);
  }
  if (file.includes(0)) throw otherEncoding('The file holds NUL bytes: it is not a CSV text.');
}

function otherEncoding(message: string, cause?: unknown): AppError {
  return new AppError('VALIDATION_ERROR', {
    errors: [{ field: 'file', message, code: 'invalid_string' }],
    suggestion: 'Save the file as "CSV UTF-8" and upload it again.',
    cause,
  });
}

/**
 * Returns the delimiter on which the first lines agree: outside quotes, the one that most lines contain as often as
 * the header row does; if several qualify, the most frequent one in the header row.
 */
function delimiterOf(beginning: string, lineEnd: string): CsvLayout['delimiter'] {
  const lines = unquotedLines(beginning, lineEnd);
  const [header = ''] = lines;
  const scores = DELIMITERS.map((delimiter) => {
    const count = countOf(header, delimiter);
    const agreeing = lines.filter((line) => count > 0 && countOf(line, delimiter) === count).length;
    return { delimiter, count, agreeing };
  });
  const best = scores.reduce((a, b) =>
    b.agreeing > a.agreeing || (b.agreeing === a.agreeing && b.count > a.count) ? b : a,
  );
  return best.delimiter;
}

const countOf = (line: string, delimiter: string): number => line.split(delimiter).length - 1;

/** Returns the first non-blank lines, without quoted text. */
function unquotedLines(beginning: string, lineEnd: string): string[] {
  const bare = beginning.replace(/"(?:[^"]|"")*(?:"|$)/g, '');
  return bare
    .split(lineEnd)
    .filter((line) => line.trim() !== '')
    .slice(0, SAMPLE_LINES);
}

/** Tells whether a header row has too many columns, before it is parsed, by counting delimiters outside quotes. */
function hasTooManyColumns(bytes: Buffer, p: { start: number; delimiter: string; lineEnd: number }): boolean {
  const { start, delimiter, lineEnd } = p;
  const separator = delimiter.charCodeAt(0);
  let columns = 1;
  let quoted = false;
  let blank = true; // Blank lines before the header are skipped, as everywhere.
  for (let at = start; at < bytes.length && columns <= DATA_LIMITS.keys; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) quoted = !quoted;
    else if (quoted) continue;
    else if (byte === separator) columns += 1;
    else if (byte === lineEnd && !blank) break;
    blank &&= byte === LF || byte === CR;
  }
  return columns > DATA_LIMITS.keys;
}

function headerFaults(columns: string[]): FieldError[] {
  const errors: FieldError[] = [];
  const fault = (message: string, code = 'custom') => errors.push({ field: 'file', message, code });
  for (const name of columns) {
    const place = name !== 'subscribed' && consentPlaceOf(name);
    if (place) fault(`The column "${name}" is not data: ${place}. Leave the column out, or map it to another field.`);
  }
  if (!columns.includes('email')) fault('The header row has no column "email".');
  const seen = new Set<string>();
  const double = columns.find((name) => name !== '' && (seen.has(name) || !seen.add(name)));
  if (double !== undefined) fault(`Two columns are named "${double.slice(0, DATA_LIMITS.keyLength)}".`);
  if (columns.some((name) => name.length > DATA_LIMITS.keyLength)) {
    fault(`A column's name has at most ${DATA_LIMITS.keyLength} characters.`, 'too_big');
  }
  return errors;
}

/** Returns the offset of the next such byte, or of the end of the file. */
function indexOf(bytes: Buffer, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at < 0 ? bytes.length : at;
}

function bytesOf(file: Uint8Array): Buffer {
  return Buffer.from(file.buffer, file.byteOffset, file.byteLength);
}
