import type { FieldError } from '../errors.ts';
import { readCsvHead } from './csv-head.ts';
import { type CsvLayout, consentWordsOf, type KnownTypes, layOut, withTypes } from './csv-layout.ts';
import { type CsvMapping, guessMapping } from './csv-mapping.ts';
import { type CsvChunk, type CsvRange, type CsvRow, countCsvRows, readCsvChunk } from './csv-rows.ts';

/** Type that a column's values are read as. */
export type CellType = 'text' | 'number' | 'boolean' | 'date';

export interface RowWithErrors {
  /** Index from the first row of the stretch; 0 is the first. */
  index: number;
  email: string;
  error: string;
  /** Its cells as written. For an unreadable row, the line. Empty if that is too long. */
  values: string[];
}

/** Facts about a part of a file, collected without keeping its rows. */
export interface CsvReview extends Pick<CsvChunk, 'unreadableRows' | 'nextAt' | 'done'> {
  rows: number;
  /** The addresses of the rows that can be imported, in their order. */
  emails: string[];
  /** The subscription that each of these rows sets, or null, and which rows have an empty consent cell. */
  subscribed: (boolean | null)[];
  silent: boolean[];
  bad: RowWithErrors[];
  /** Rows that can be imported with a value that cannot be used: all are counted, and the first `badMax` are named. */
  warned: number;
  warnings: { index: number; email: string; warning: string }[];
  /** How often each type occurs, by field. */
  types: Record<string, Partial<Record<CellType, number>>>;
}

/** The maximum length of a row with errors that is shown. Longer ones can be found in the file by their number. */
const BAD_ROW_MAX_CHARS = 2_000;
/** Matches dates as the type detection of contact fields does. */
const ISO_DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/**
 * Reads up to `limit` rows like an import, and collects the errors that the import would report. Keeps `badMax` rows
 * with errors.
 */
export function reviewCsvChunk(file: Uint8Array, p: CsvRange & { badMax: number }): CsvReview {
  const review: CsvReview = {
    rows: 0,
    emails: [],
    subscribed: [],
    silent: [],
    bad: [],
    warned: 0,
    warnings: [],
    types: {},
    unreadableRows: 0,
    nextAt: 0,
    done: true,
  };
  const { unreadableRows, nextAt, done } = readCsvChunk(file, p, (row, cells) => {
    const index = review.rows;
    review.rows += 1;
    if (!row.ok) {
      if (review.bad.length < p.badMax)
        review.bad.push({ index, email: row.email, error: row.error, values: toShownCells(cells) });
      return;
    }
    if (row.warning !== undefined) {
      review.warned += 1;
      if (review.warnings.length < p.badMax)
        review.warnings.push({ index, email: row.contact.email, warning: row.warning });
    }
    review.emails.push(row.contact.email);
    const { subscribed, subscribedIfNew } = row.contact;
    review.subscribed.push(subscribed ?? null);
    review.silent.push(subscribed === undefined && subscribedIfNew === false);
    for (const [key, value] of Object.entries(row.contact.set)) countType(review.types, key, cellType(value));
  });
  return { ...review, unreadableRows, nextAt, done };
}

/** A preview of a file: its columns with their targets, and its first rows. */
export interface CsvPreview {
  delimiter: string;
  headers: string[];
  /** The given mapping, or the guessed one. */
  mapping: CsvMapping;
  layout: CsvLayout;
  /** Errors that prevent an import with this mapping. */
  errors: FieldError[];
  /** The number of rows, counted as for the progress of an import. */
  rows: number;
  /** The first rows: their cells, and the result of an import. */
  first: { cells: string[]; row: CsvRow }[];
}

/** Previews a file. Without `mapping`, one is guessed. @throws AppError VALIDATION_ERROR if the file is not CSV text */
export function previewCsv(
  file: Uint8Array,
  p: {
    mapping?: CsvMapping | undefined;
    knownKeys: readonly string[];
    knownTypes: KnownTypes;
    text: boolean;
    rows: number;
  },
): CsvPreview {
  const head = readCsvHead(file);
  const { headers, delimiter } = head;
  const hasConsentWords = consentWordsOf(file, head);
  const mapping = p.mapping ?? guessMapping(headers, p.knownKeys, hasConsentWords);
  const { layout: untyped, errors } = layOut(head, mapping, hasConsentWords);
  const layout = errors.length > 0 ? untyped : withTypes(file, untyped, p.knownTypes);
  const first: CsvPreview['first'] = [];
  readCsvChunk(file, { layout, at: layout.firstRowAt, limit: p.rows, text: p.text }, (row, cells) => {
    first.push({ row, cells: Array.isArray(cells) ? cells : [cells.unreadable] });
  });
  return { headers, delimiter, mapping, layout, errors, rows: countCsvRows(file, layout), first };
}

export function cellType(value: unknown): CellType {
  if (typeof value === 'number' || typeof value === 'boolean') return typeof value as 'number' | 'boolean';
  return typeof value === 'string' && ISO_DATE.test(value) ? 'date' : 'text';
}

function countType(types: CsvReview['types'], key: string, type: CellType): void {
  // A field may have the name of a built-in property, such as `constructor`.
  const counts = (Object.hasOwn(types, key) ? types[key] : undefined) ?? {};
  counts[type] = (counts[type] ?? 0) + 1;
  types[key] = counts;
}

function toShownCells(cells: string[] | { unreadable: string }): string[] {
  const values = Array.isArray(cells) ? cells : [cells.unreadable];
  return values.reduce((sum, value) => sum + value.length, 0) > BAD_ROW_MAX_CHARS ? [] : values;
}
