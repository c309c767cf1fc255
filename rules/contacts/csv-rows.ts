import { EMAIL_MAX_CHARS, parseMailbox } from '../emails/email-address.ts';
import { type Data, parseDataChanges } from '../filters/data-values.ts';
import { readWrittenNumber } from '../sms/phone.ts';
import { convertToType, describeExpectedType } from './column-types.ts';
import { isRefusal, readConsent } from './consent-words.ts';
import { readRecordsFrom, toBuffer } from './csv-head.ts';
import type { CsvLayout } from './csv-layout.ts';
import { detectLineEnd } from './csv-records.ts';
import { unescapeFormula } from './formula-text.ts';

const CR = 0x0d;
const QUOTE = 0x22;
/** The maximum number of characters of an unknown word that an error quotes. */
const WORD_SHOWN_CHARS = 40;

export interface CsvContact {
  email: string;
  subscribed: boolean | undefined;
  /** False if the cell of the consent column is empty, so a new contact is not subscribed. */
  subscribedIfNew?: false;
  /** The fields whose cells refuse SMS. Absent if no cell refuses SMS. */
  smsRefusals?: string[];
  set: Data;
}

/** A row of the file: a contact, or the error of the row. */
export type CsvRow =
  /** `warning` is set if the row can be imported, but one of its values cannot be used. */
  { ok: true; contact: CsvContact; warning?: string } | { ok: false; email: string; error: string };

export interface CsvChunk {
  rows: CsvRow[];
  /** For each row: its position in the chunk, counted as in a spreadsheet: skipped blank rows count. The first is 0. */
  positions: number[];
  /** The number of skipped rows: blank lines, and rows that contain only delimiters. */
  blankRows: number;
  /** The number of rows that are not readable as CSV. */
  unreadableRows: number;
  /** The byte offset of the next row, from which the next call continues. */
  nextAt: number;
  done: boolean;
  /** The number of bytes read, as a measure of the cost. */
  bytesRead: number;
}

/**
 * Counts the rows after the header, without blank lines and rows that contain only delimiters. A line break inside
 * quotes does not end a row. The count is approximate if quotes are unmatched, and is used only to show progress.
 */
export function countCsvRows(file: Uint8Array, layout: CsvLayout): number {
  const lineEnd = detectLineEnd(toBuffer(file));
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
  /** True to keep every value as text. */
  text: boolean;
  /** ISO 3166-1 alpha-2: the country of phone numbers without a calling code. Null if the project has no country. */
  phoneCountry?: string | null;
}

/**
 * Reads up to `limit` rows from a byte offset on. An unreadable row counts as one row with errors, and reading
 * continues with the next line. A quote that is never closed therefore affects only its own row. Values are converted
 * to the types of their columns, unless `text` is true. ISO dates are kept as text, because dates are stored as text.
 * `see` is called with each row, its cells, or its line if the row is unreadable, and its position.
 */
export function readCsvChunk(
  file: Uint8Array,
  p: CsvRange,
  see?: (row: CsvRow, cells: string[] | { unreadable: string }, position: number) => void,
): CsvChunk {
  const { delimiter, columns } = p.layout;
  const records = readRecordsFrom(file, { delimiter, at: p.at });
  const rows: CsvRow[] = [];
  const positions: number[] = [];
  let unreadableRows = 0;
  while (rows.length < p.limit) {
    const record = records.next(columns.length);
    if (record === undefined) break;
    const readable = Array.isArray(record);
    if (!readable) unreadableRows += 1;
    const row = readable
      ? addPhoneWarning(readRow(record.map(normalizeCell), p), p)
      : createUnreadableRow(record.unreadable, p.layout);
    const position = rows.length + records.blankRows;
    see?.(row, record, position);
    rows.push(row);
    positions.push(position);
  }
  const { at: nextAt, blankRows, bytesRead } = records;
  return { rows, positions, blankRows, unreadableRows, nextAt, done: nextAt >= file.length, bytesRead };
}

/** Returns a cell in Unicode NFC, the form in which filters and templates compare text (contract §1.16 Unicode). */
function normalizeCell(cell: string): string {
  return cell.normalize('NFC');
}

function createUnreadableRow(line: string, layout: CsvLayout): CsvRow {
  const column = layout.columns.indexOf('email');
  const email = line.split(layout.delimiter, column + 1)[column] ?? '';
  return {
    ok: false,
    email: email.trim().slice(0, EMAIL_MAX_CHARS),
    error: 'The row cannot be read: a quotation mark (") is missing or extra.',
  };
}

function readRow(values: string[], { layout, text }: { layout: CsvLayout; text: boolean }): CsvRow {
  let email = '';
  let consent: Pick<CsvContact, 'subscribed' | 'subscribedIfNew'> = { subscribed: undefined };
  let unknownWord: { column: string; word: string } | undefined;
  const smsRefusals: string[] = [];
  let wrongType: string | undefined;
  const data: Data = {};
  for (const [index, column] of layout.columns.entries()) {
    const cell = values[index] ?? '';
    if (column === 'email') email = (unescapeFormula(cell) ?? cell).trim();
    else if (column === 'subscribed') {
      const word = readConsentWord(cell);
      const subscribed = readConsent(word);
      consent = word === '' ? { subscribed: undefined, subscribedIfNew: false } : { subscribed };
      if (word !== '' && subscribed === undefined) unknownWord = { column, word };
      if (subscribed === false && layout.smsColumns?.consent.includes(index)) smsRefusals.push(column);
    } else if (column !== '' && cell !== '') {
      if (layout.smsColumns?.consent.includes(index)) {
        const consents = readConsent(readConsentWord(cell));
        if (consents === undefined && readConsentWord(cell) !== '')
          unknownWord = { column, word: readConsentWord(cell) };
        if (consents === false) smsRefusals.push(column);
      }
      const value = text ? (unescapeFormula(cell) ?? cell) : convertCell(cell, layout, index);
      if (value === undefined) wrongType ??= describeExpectedType(column, layout.types?.[index] ?? 'text');
      else data[column] = value;
    }
  }
  const isRefused = (index: number) => isRefusal(readConsentWord(values[index] ?? ''));
  if (layout.refusalColumns?.some(isRefused)) consent = { subscribed: false };
  for (const index of layout.smsColumns?.refusal ?? [])
    if (isRefused(index)) smsRefusals.push(layout.columns[index] ?? '');
  if (email === '') return { ok: false, email, error: 'The row has no email address.' };
  const mailbox = parseMailbox(email);
  if (!mailbox.ok) return { ok: false, email: email.slice(0, EMAIL_MAX_CHARS), error: `${mailbox.reason}.` };
  if (unknownWord !== undefined) return { ok: false, email: mailbox.email, error: describeUnknownWord(unknownWord) };
  if (wrongType !== undefined) return { ok: false, email: mailbox.email, error: wrongType };
  const { set, errors } = parseDataChanges(data);
  const [fault] = errors;
  return fault
    ? { ok: false, email: mailbox.email, error: `${fault.field}: ${fault.message}` }
    : { ok: true, contact: { email: mailbox.email, ...consent, ...(smsRefusals.length > 0 && { smsRefusals }), set } };
}

/** Returns the word in a cell about consent, without the apostrophe that an export adds. */
function readConsentWord(cell: string): string {
  return (unescapeFormula(cell) ?? cell).trim();
}

/** Adds a warning if the phone number is unreadable. An unreadable number is stored as text and gets no SMS. */
function addPhoneWarning(row: CsvRow, { phoneCountry = null }: CsvRange): CsvRow {
  if (!row.ok || row.contact.set.phone === undefined) return row;
  const phone = String(row.contact.set.phone);
  if (readWrittenNumber(phone, phoneCountry)) return row;
  const shown = [...phone].slice(0, WORD_SHOWN_CHARS).join('');
  const remedy =
    phoneCountry === null
      ? 'write it with its country code, such as +49 151 23456789, or set phoneCountry of the project'
      : `it is not a number of ${phoneCountry}; write it with its country code, such as +49 151 23456789`;
  return { ...row, warning: `phone: "${shown}" cannot be read: ${remedy}.` };
}

function describeUnknownWord({ column, word }: { column: string; word: string }): string {
  const shown = [...word].slice(0, WORD_SHOWN_CHARS).join('');
  return `${column}: "${shown}" is not a word for consent. Write yes, no, or leave the cell empty.`;
}

/** Returns the value of a cell, by the type of its column. Undefined if the cell does not fit the type of its field. */
function convertCell(cell: string, { types, knownColumns = [], textColumns }: CsvLayout, index: number): unknown {
  // An export adds an apostrophe to text that looks like another type.
  const original = unescapeFormula(cell);
  if (textColumns?.includes(index)) return original ?? cell;
  if (types === undefined) return original ?? guessValue(cell);
  const type = types[index] ?? 'text';
  if (original !== undefined) return type === 'text' || !knownColumns.includes(index) ? original : undefined;
  return convertToType(cell, type);
}

/** Guesses the value of a cell. Used for jobs of earlier versions, whose layout has no types. */
function guessValue(value: string): unknown {
  if (/^-?(0|[1-9]\d{0,14})(\.\d{1,10})?$/.test(value)) return Number(value);
  const word = value.toLowerCase();
  return word === 'true' || word === 'false' ? word === 'true' : value;
}
