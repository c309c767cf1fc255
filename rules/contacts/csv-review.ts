import type { FieldError } from '../errors.ts';
import {
  type CsvChunk,
  type CsvLayout,
  type CsvRow,
  type CsvStretch,
  countCsvRows,
  type KnownTypes,
  layOut,
  readCsvChunk,
  readCsvHead,
  withTypes,
} from './csv.ts';
import { type CsvMapping, guessMapping } from './csv-mapping.ts';

/** Type that a column's values are read as. */
export type CellType = 'text' | 'number' | 'boolean' | 'date';

export interface BadRow {
  /** Counted from the first row of the stretch, from 0. */
  index: number;
  email: string;
  error: string;
  /** Its cells as written. For an unreadable row, the line. Empty if that is too long. */
  values: string[];
}

/** Facts about a part of a file, collected without keeping its rows. */
export interface CsvReview extends Pick<CsvChunk, 'torn' | 'nextAt' | 'done'> {
  rows: number;
  /** The addresses of the rows that can be imported, in their order. */
  emails: string[];
  /** Which of these rows would subscribe, and which have an empty consent cell. */
  subscribes: boolean[];
  silent: boolean[];
  bad: BadRow[];
  /** Rows that can be imported with a value that cannot be used: all are counted, and the first `badMax` are named. */
  warned: number;
  warnings: { index: number; email: string; warning: string }[];
  /** How often each type occurs, by field. */
  types: Record<string, Partial<Record<CellType, number>>>;
}

/** A bad row is shown whole up to this; longer ones are found in the file by their number. */
const BAD_ROW_MAX_CHARS = 2_000;
/** As contact fields tell dates. */
const ISO_DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** Reads up to `limit` rows as an import would, for what it would say of them. `badMax` bad rows are kept. */
export function reviewCsvChunk(file: Uint8Array, p: CsvStretch & { badMax: number }): CsvReview {
  const review: CsvReview = {
    rows: 0,
    emails: [],
    subscribes: [],
    silent: [],
    bad: [],
    warned: 0,
    warnings: [],
    types: {},
    torn: 0,
    nextAt: 0,
    done: true,
  };
  const { torn, nextAt, done } = readCsvChunk(file, p, (row, cells) => {
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
    review.subscribes.push(subscribed ?? subscribedIfNew ?? true);
    review.silent.push(subscribed === undefined && subscribedIfNew === false);
    for (const [key, value] of Object.entries(row.contact.set)) countType(review.types, key, cellType(value));
  });
  return { ...review, torn, nextAt, done };
}

/** A file before it is imported: its columns, where they would go, and its first rows. */
export interface CsvLook {
  delimiter: string;
  headers: string[];
  /** As given, or as guessed. */
  mapping: CsvMapping;
  layout: CsvLayout;
  /** Why it cannot be imported by this mapping. */
  errors: FieldError[];
  /** The number of rows, as progress counts them. */
  rows: number;
  /** The first rows, cell by cell and as they would be imported. */
  first: { cells: string[]; row: CsvRow }[];
}

/** Looks at a file; without a `mapping` one is guessed. @throws AppError VALIDATION_ERROR when it is no CSV text */
export function lookAtCsv(
  file: Uint8Array,
  p: {
    mapping?: CsvMapping | undefined;
    knownKeys: readonly string[];
    knownTypes: KnownTypes;
    text: boolean;
    rows: number;
  },
): CsvLook {
  const head = readCsvHead(file);
  const { headers, delimiter } = head;
  const mapping = p.mapping ?? guessMapping(headers, p.knownKeys);
  const { layout: untyped, errors } = layOut(head, mapping);
  const layout = errors.length > 0 ? untyped : withTypes(file, untyped, p.knownTypes);
  const first: CsvLook['first'] = [];
  readCsvChunk(file, { layout, at: layout.firstRowAt, limit: p.rows, text: p.text }, (row, cells) => {
    first.push({ row, cells: Array.isArray(cells) ? cells : [cells.torn] });
  });
  return { headers, delimiter, mapping, layout, errors, rows: countCsvRows(file, layout), first };
}

export function cellType(value: unknown): CellType {
  if (typeof value === 'number' || typeof value === 'boolean') return typeof value as 'number' | 'boolean';
  return typeof value === 'string' && ISO_DATE.test(value) ? 'date' : 'text';
}

function countType(types: CsvReview['types'], key: string, type: CellType): void {
  // A field may be called as what every object has.
  const counts = (Object.hasOwn(types, key) ? types[key] : undefined) ?? {};
  counts[type] = (counts[type] ?? 0) + 1;
  types[key] = counts;
}

function toShownCells(cells: string[] | { torn: string }): string[] {
  const values = Array.isArray(cells) ? cells : [cells.torn];
  return values.reduce((sum, value) => sum + value.length, 0) > BAD_ROW_MAX_CHARS ? [] : values;
}
