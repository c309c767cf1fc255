import type { FieldError } from '../errors.ts';
import { readCsvHead } from './csv-head.ts';
import { addColumnTypes, buildLayout, type CsvLayout, createConsentWordCheck, type KnownTypes } from './csv-layout.ts';
import { type CsvMapping, guessMapping } from './csv-mapping.ts';
import { type CsvChunk, type CsvRange, type CsvRow, countCsvRows, readCsvChunk } from './csv-rows.ts';

/** The type of a value in a preview. */
export type CellType = 'text' | 'number' | 'boolean' | 'date';

export interface RowWithErrors {
  /** The position of the row in the part of the file that was read, as in `CsvChunk`. */
  position: number;
  email: string;
  error: string;
  /** The cells as in the file, or the whole line if the row is unreadable. Empty if they are too long. */
  values: string[];
}

/** Facts about a part of a file. The rows themselves are not kept. */
export interface CsvReview extends Pick<CsvChunk, 'blankRows' | 'unreadableRows' | 'nextAt' | 'done'> {
  rows: number;
  /** The addresses of the rows that can be imported, in the order of the rows. */
  emails: string[];
  /** For each row of `emails`: the subscription that the row sets, or null if it sets none. */
  subscribed: (boolean | null)[];
  /** For each row of `emails`: true if the cell about consent is empty, so a new contact would not be subscribed. */
  silent: boolean[];
  bad: RowWithErrors[];
  /**
   * The number of rows that can be imported although one of their values cannot be used. `warnings` has the first
   * `badMax` of these rows.
   */
  warned: number;
  warnings: { position: number; email: string; warning: string }[];
  /** For each field: how many values have each type. */
  types: Record<string, Partial<Record<CellType, number>>>;
}

/**
 * The maximum length of a row with errors that a response shows. A user can find a longer row in the file by its
 * number.
 */
const BAD_ROW_MAX_CHARS = 2_000;
/** Matches dates. `db/contacts/fields.ts` detects the types of contact fields with the same pattern. */
const ISO_DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/**
 * Reads up to `limit` rows like an import. Collects the first `badMax` rows with errors, and the errors that the import
 * would report for these rows.
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
    blankRows: 0,
    unreadableRows: 0,
    nextAt: 0,
    done: true,
  };
  const { blankRows, unreadableRows, nextAt, done } = readCsvChunk(file, p, (row, cells, position) => {
    review.rows += 1;
    if (!row.ok) {
      if (review.bad.length < p.badMax)
        review.bad.push({ position, email: row.email, error: row.error, values: cutLongRow(cells) });
      return;
    }
    if (row.warning !== undefined) {
      review.warned += 1;
      if (review.warnings.length < p.badMax)
        review.warnings.push({ position, email: row.contact.email, warning: row.warning });
    }
    review.emails.push(row.contact.email);
    const { subscribed, subscribedIfNew } = row.contact;
    review.subscribed.push(subscribed ?? null);
    review.silent.push(subscribed === undefined && subscribedIfNew === false);
    for (const [key, value] of Object.entries(row.contact.set)) countType(review.types, key, detectValueType(value));
  });
  return { ...review, blankRows, unreadableRows, nextAt, done };
}

/** A preview of a file: its columns with their targets, and its first rows. */
export interface CsvPreview {
  delimiter: string;
  headers: string[];
  /** The requested mapping, or the guessed mapping. */
  mapping: CsvMapping;
  layout: CsvLayout;
  /** Errors that prevent an import with this mapping. */
  errors: FieldError[];
  /** The number of rows, counted as for the progress of an import. */
  rows: number;
  /** The first rows: their numbers in a spreadsheet, their cells, and the result that an import would have. */
  first: { number: number; cells: string[]; row: CsvRow }[];
}

/**
 * Previews a file. If `mapping` is absent, it is guessed.
 * @throws AppError VALIDATION_ERROR if the file is not CSV text
 */
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
  const consentWords = createConsentWordCheck(file, head);
  const mapping = p.mapping ?? guessMapping(headers, p.knownKeys, consentWords);
  const { layout: untyped, errors } = buildLayout(head, mapping, consentWords);
  const layout = errors.length > 0 ? untyped : addColumnTypes(file, untyped, p.knownTypes);
  const first: CsvPreview['first'] = [];
  readCsvChunk(file, { layout, at: layout.firstRowAt, limit: p.rows, text: p.text }, (row, cells, position) => {
    first.push({ number: head.firstRow + position, row, cells: Array.isArray(cells) ? cells : [cells.unreadable] });
  });
  return { headers, delimiter, mapping, layout, errors, rows: countCsvRows(file, layout), first };
}

export function detectValueType(value: unknown): CellType {
  if (typeof value === 'number' || typeof value === 'boolean') return typeof value as 'number' | 'boolean';
  return typeof value === 'string' && ISO_DATE.test(value) ? 'date' : 'text';
}

function countType(types: CsvReview['types'], key: string, type: CellType): void {
  // A field may have the name of a built-in property, such as `constructor`.
  const counts = (Object.hasOwn(types, key) ? types[key] : undefined) ?? {};
  counts[type] = (counts[type] ?? 0) + 1;
  types[key] = counts;
}

function cutLongRow(cells: string[] | { unreadable: string }): string[] {
  const values = Array.isArray(cells) ? cells : [cells.unreadable];
  return values.reduce((sum, value) => sum + value.length, 0) > BAD_ROW_MAX_CHARS ? [] : values;
}
