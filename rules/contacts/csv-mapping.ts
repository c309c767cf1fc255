import type { FieldError } from '../errors.ts';
import { DATA_LIMITS, RESERVED_DATA_KEYS } from '../filters/data-values.ts';

/** Target of a column: a field, a field whose values stay text, or nothing. */
export type ColumnTarget = string | { field: string; type?: 'infer' | 'string' | undefined } | null;

/**
 * Targets of columns by their header: `email`, `subscribed`, `data.<name>`, or null to ignore a column. Other columns
 * use their header.
 */
export type CsvMapping = Record<string, ColumnTarget>;

/** Columns with notes in an error file, which is corrected and imported again. They describe errors, not contacts. */
export const NOTE_COLUMNS: ReadonlySet<string> = new Set(['import_row', 'import_error']);

const EMAIL_WORDS = new Set(
  'email mail emailaddress mailaddress emailadresse mailadresse adressemail adresseemail courriel correo correoelectronico emailid'.split(
    ' ',
  ),
);
const SUBSCRIBED_WORDS = new Set(
  'subscribed optin optedin acceptsmarketing acceptsemailmarketing emailoptin issubscribed emailconsent marketingconsent marketingoptin subscriptionstatus'.split(
    ' ',
  ),
);
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Fields by column ('' for an ignored one) and the columns that stay text, or the errors of the mapping. */
export interface MappedColumns {
  columns: string[];
  textColumns: number[];
  errors: FieldError[];
}

/** Applies a mapping to the headers of a file. */
export function mapColumns(headers: readonly string[], mapping: CsvMapping): MappedColumns {
  const mapped: MappedColumns = { columns: [], textColumns: [], errors: [] };
  const fault = (header: string, message: string) =>
    mapped.errors.push({ field: `mapping.${header.slice(0, DATA_LIMITS.keyLength)}`, message, code: 'custom' });
  for (const header of Object.keys(mapping)) {
    if (!headers.includes(header)) fault(header, 'The file has no such column.');
  }
  for (const [index, header] of headers.entries()) {
    const target = Object.hasOwn(mapping, header) ? mapping[header] : undefined;
    const field = typeof target === 'object' ? target?.field : target;
    if (target === undefined) mapped.columns.push(columnByHeader(header));
    else if (field === undefined) mapped.columns.push('');
    else {
      const column = columnByField(field);
      if (column === undefined) fault(header, `"${field.slice(0, 100)}" is no field that an import can set.`);
      mapped.columns.push(column ?? '');
    }
    if (target !== null && typeof target === 'object' && target.type === 'string') mapped.textColumns.push(index);
  }
  return mapped;
}

/** Returns the field of a column that the request does not map. */
export function columnByHeader(header: string): string {
  const word = header.toLowerCase();
  if (NOTE_COLUMNS.has(word)) return '';
  return word === 'email' || word === 'subscribed' ? word : header;
}

/**
 * Guesses a mapping like a person would: recognizes addresses and consent by the names that other programs use, and
 * existing fields (`knownKeys`) in any spelling. Other columns get a name that templates can use.
 */
export function guessMapping(headers: readonly string[], knownKeys: readonly string[]): Record<string, string | null> {
  const known = new Map(knownKeys.map((key) => [wordOf(key), key]));
  const taken = new Set<string>();
  const guess: Record<string, string | null> = {};
  const take = (header: string, field: string | undefined) => {
    guess[header] = field === undefined || taken.has(field) ? null : field;
    if (field !== undefined) taken.add(field);
  };
  // An exact name takes precedence over similar names, in any position.
  const isExact = (header: string) => ['email', 'subscribed'].includes(header.toLowerCase());
  for (const header of headers.filter(isExact)) take(header, header.toLowerCase());
  for (const header of headers.filter((name) => name !== '' && !isExact(name))) {
    const word = wordOf(header);
    if (EMAIL_WORDS.has(word) && !taken.has('email')) take(header, 'email');
    else if (SUBSCRIBED_WORDS.has(word) && !taken.has('subscribed')) take(header, 'subscribed');
    else take(header, fieldFor(header, known.get(word)));
  }
  return guess;
}

function fieldFor(header: string, knownKey: string | undefined): string | undefined {
  if (NOTE_COLUMNS.has(header.toLowerCase())) return undefined;
  const key = (knownKey ?? (IDENTIFIER.test(header) ? header : camelCase(header))).slice(0, DATA_LIMITS.keyLength);
  const field = `data.${key}`;
  return columnByField(field) === undefined ? undefined : field;
}

function columnByField(field: string): string | undefined {
  if (field === 'email' || field === 'subscribed') return field;
  const key = field.startsWith('data.') ? field.slice('data.'.length).trim() : '';
  const isNone = key === '' || key.length > DATA_LIMITS.keyLength || key === 'subscribed' || key === '__proto__';
  return isNone || RESERVED_DATA_KEYS.has(key) ? undefined : key;
}

/** Reduces a name to letters and digits in lower case, so that `E-Mail` and `email` are equal. */
function wordOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

function camelCase(header: string): string {
  const words = header.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const [first = '', ...rest] = words;
  return first.toLowerCase() + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()).join('');
}
