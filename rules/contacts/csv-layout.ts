import { parseMailbox } from '../emails/email-address.ts';
import { AppError, type FieldError } from '../errors.ts';
import { DATA_LIMITS, findConsentHint } from '../filters/data-values.ts';
import { type ColumnType, detectCellType } from './column-types.ts';
import { isConsentHeader, isSmsConsentHeader } from './consent-names.ts';
import { isSubscriptionState, readConsent } from './consent-words.ts';
import { type CsvDelimiter, type CsvHead, readCsvHead, readRecordsFrom } from './csv-head.ts';
import { type CsvMapping, type HasConsentWords, isStateHeader, mapColumns, type SmsColumns } from './csv-mapping.ts';
import { unescapeFormula } from './formula-text.ts';

/** Reading stops at this number of unreadable rows, because the file is then probably not a CSV file. */
export const UNREADABLE_ROWS_MAX = 1_000;

/**
 * The meaning of a file's columns. The layout is stored with the import job, so that an interrupted import can continue
 * anywhere in the file.
 */
export interface CsvLayout {
  delimiter: CsvDelimiter;
  /**
   * The field of each column: `email` or `subscribed` in lower case, another header as written or mapped, or '' for an
   * ignored column.
   */
  columns: string[];
  /** Columns whose values are kept as text. Absent in jobs of earlier versions. */
  textColumns?: number[];
  /**
   * The type of each column, for all rows of the file. A job of an earlier version has no types, so the type of each
   * cell is guessed separately.
   */
  types?: ColumnType[];
  /**
   * Columns for a field whose stored values in the project all have one type. A row with a cell of another type gets an
   * error.
   */
  knownColumns?: number[];
  /** Columns such as `Unsubscribed`, whose cells record a refusal. The cells are also stored as data. */
  refusalColumns?: number[];
  /** Columns such as `Accepts SMS` and `SMS Opt-Out`. The cells of such columns are also stored as data. */
  smsColumns?: SmsColumns;
  /** Sentences that tell the user which columns were recognized by their names, for the result of the import. */
  notes?: string[];
  /** Byte offset of the first row. */
  firstRowAt: number;
  /** The number of the first row in a spreadsheet. Absent in jobs of earlier versions, which mean `DEFAULT_FIRST_ROW`. */
  firstRow?: number;
}

/** The type of each field whose stored values in the project all have the same type, by key. */
export type KnownTypes = Readonly<Record<string, ColumnType>>;

/**
 * Reads the header row of a CSV file (`readCsvHead`), and determines the type of each column (`addColumnTypes`).
 * @throws AppError VALIDATION_ERROR if the file is not UTF-8, has no column `email`, or has headers that cannot be
 * fields, or if the mapping has errors
 */
export function readCsvLayout(file: Uint8Array, mapping: CsvMapping = {}, known: KnownTypes = {}): CsvLayout {
  const head = readCsvHead(file);
  const { layout, errors } = buildLayout(head, mapping, createConsentWordCheck(file, head));
  if (errors.length > 0) throw new AppError('VALIDATION_ERROR', { errors });
  return addColumnTypes(file, layout, known);
}

/**
 * Gives each column one type: the type of its field in the project (`known`), else the common type of all its cells,
 * else text. A column of version numbers with `1.10` for a new field is therefore text, and its values are exported
 * exactly as they were imported.
 */
export function addColumnTypes(file: Uint8Array, layout: CsvLayout, known: KnownTypes): CsvLayout {
  const { delimiter, columns, textColumns = [], firstRowAt } = layout;
  const columnTypes: (ColumnType | undefined)[] = columns.map(() => undefined);
  const records = readRecordsFrom(file, { delimiter, at: firstRowAt });
  const emailAt = columns.indexOf('email');
  for (let unreadableRows = 0; unreadableRows < UNREADABLE_ROWS_MAX; ) {
    const cells = records.next(columns.length);
    if (cells === undefined) break;
    if (!Array.isArray(cells)) unreadableRows += 1;
    // A row without a valid address is not imported, so its cells do not count.
    else if (parseMailbox(cells[emailAt] ?? '').ok) mergeTypes(columnTypes, cells);
  }
  // People write phone numbers with and without signs. If the stored phone numbers are digits only, a cell such as "+49
  // 151 …" must still be accepted.
  const isKnown = (column: string) => column !== 'phone' && Object.hasOwn(known, column);
  const knownColumns = columns.flatMap((column, index) =>
    isKnown(column) && !textColumns.includes(index) ? [index] : [],
  );
  const types = columns.map((column, index) => {
    if (textColumns.includes(index)) return 'text';
    return (isKnown(column) ? known[column] : columnTypes[index]) ?? 'text';
  });
  return { ...layout, types, ...(knownColumns.length > 0 && { knownColumns }) };
}

function mergeTypes(columnTypes: (ColumnType | undefined)[], cells: readonly string[]): void {
  for (const [index, cell] of cells.entries()) {
    const columnType = columnTypes[index];
    if (cell === '' || columnType === 'text') continue;
    const type = unescapeFormula(cell) === undefined ? detectCellType(cell) : 'text';
    columnTypes[index] = columnType === undefined || columnType === type ? type : 'text';
  }
}

/** Returns the layout of a file with this head and mapping, and the errors in them. */
export function buildLayout(
  { headers, delimiter, firstRowAt, firstRow }: CsvHead,
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
    firstRow,
    ...(textColumns.length > 0 && { textColumns }),
    ...(refusalColumns.length > 0 && { refusalColumns }),
    ...(sms.consent.length + sms.refusal.length > 0 && { smsColumns: sms }),
    ...(notes.length > 0 && { notes }),
  };
  return { layout, errors: [...errors, ...findHeaderErrors(columns)] };
}

const ignoreHint = 'To ignore the column, do not import it (map it to null).';
const consentNote = (header: string) =>
  `The column "${header}" is read as consent to email. To store its values as data instead, map it to a field of yours (data.<name>).`;
const refusalNote = (header: string) =>
  `Contacts with any value other than "no" in the column "${header}" are imported as unsubscribed. ${ignoreHint}`;
const smsConsentNote = (header: string) =>
  `The column "${header}" is read as consent to SMS: "no" stops marketing SMS to a contact, but "yes" does not start them again. ${ignoreHint}`;
const smsRefusalNote = (header: string) =>
  `Any value other than "no" in the column "${header}" stops marketing SMS to a contact. ${ignoreHint}`;
const unreadNote = (header: string) =>
  `The column "${header}" is not read as consent, because no value in it is a clear answer such as "yes" or "no".`;

/**
 * Returns a function that tells whether any cell of a column is a word for consent. The function reads the file once,
 * at its first call.
 */
export function createConsentWordCheck(file: Uint8Array, head: CsvHead): HasConsentWords {
  let found: ReadonlySet<number> | undefined;
  return (column) => {
    found ??= findConsentWords(file, head);
    return found.has(column);
  };
}

/** Finds the columns whose header is a name for consent and that have at least one cell with a word for consent. */
function findConsentWords(file: Uint8Array, { headers, delimiter, firstRowAt }: CsvHead): ReadonlySet<number> {
  const isNamed = (header: string) => isConsentHeader(header) || isStateHeader(header) || isSmsConsentHeader(header);
  const openColumns = new Set(headers.flatMap((header, column) => (isNamed(header) ? [column] : [])));
  const found = new Set<number>();
  const records = readRecordsFrom(file, { delimiter, at: firstRowAt });
  for (let unreadableRows = 0; openColumns.size > 0 && unreadableRows < UNREADABLE_ROWS_MAX; ) {
    const cells = records.next(headers.length);
    if (cells === undefined) break;
    if (!Array.isArray(cells)) {
      unreadableRows += 1;
      continue;
    }
    for (const column of openColumns) {
      const cell = cells[column] ?? '';
      if (isStateHeader(headers[column] ?? '') ? !isSubscriptionState(cell) : readConsent(cell) === undefined) continue;
      openColumns.delete(column);
      found.add(column);
    }
  }
  return found;
}

function findHeaderErrors(columns: string[]): FieldError[] {
  const errors: FieldError[] = [];
  const addError = (message: string, code = 'custom') => errors.push({ field: 'file', message, code });
  for (const name of columns) {
    const hint = name !== 'subscribed' && findConsentHint(name);
    if (hint) addError(`The column "${name}" is not data: ${hint}. Leave the column out, or map it to another field.`);
  }
  if (!columns.includes('email')) addError('The first row has no column "email".');
  const columnTypes = new Set<string>();
  const double = columns.find((name) => name !== '' && (columnTypes.has(name) || !columnTypes.add(name)));
  if (double !== undefined) addError(`Two columns are named "${double.slice(0, DATA_LIMITS.keyLength)}".`);
  if (columns.some((name) => name.length > DATA_LIMITS.keyLength)) {
    addError(`A column name can have at most ${DATA_LIMITS.keyLength} characters.`, 'too_big');
  }
  return errors;
}
