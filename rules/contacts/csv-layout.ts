import { parseMailbox } from '../emails/email-address.ts';
import { AppError, type FieldError } from '../errors.ts';
import { consentPlaceOf, DATA_LIMITS } from '../filters/data-values.ts';
import { type ColumnType, typeOfText } from './column-types.ts';
import { isConsentHeader, isSmsConsentHeader } from './consent-names.ts';
import { isSubscriptionState, readConsent } from './consent-words.ts';
import { type CsvDelimiter, type CsvHead, readCsvHead, recordsFrom } from './csv-head.ts';
import { type CsvMapping, type HasConsentWords, isStateHeader, mapColumns, type SmsColumns } from './csv-mapping.ts';
import { unescapeFormula } from './formula-text.ts';

/** A file with more unreadable rows is not a CSV file that can be imported, so reading stops. */
export const UNREADABLE_ROWS_MAX = 1_000;

/** Content of the header row. It is stored with the job, so that reading can continue anywhere in the file. */
export interface CsvLayout {
  delimiter: CsvDelimiter;
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
  const { delimiter, columns, textColumns = [], firstRowAt } = layout;
  const seen: (ColumnType | undefined)[] = columns.map(() => undefined);
  const records = recordsFrom(file, { delimiter, at: firstRowAt });
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
  const records = recordsFrom(file, { delimiter, at: firstRowAt });
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
