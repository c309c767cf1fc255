import { createFieldError } from '../errors.ts';
import { DATA_LIMITS } from '../filters/data-values.ts';
import { assertUtf8 } from './csv-encoding.ts';
import { isOwnFile } from './csv-mapping.ts';
import { CsvRecords, detectLineEnd } from './csv-records.ts';
import { unescapeFormula } from './formula-text.ts';

/** The maximum size of an uploaded file. Source: contract §1.11 Limits. */
export const CSV_MAX_BYTES = 5 * 1024 * 1024;
/**
 * The maximum size of a record. A longer record probably has more data than a contact may have, or a quote that is
 * never closed.
 */
const RECORD_MAX_BYTES = 2 * DATA_LIMITS.bytes;
/** The number of the first row after the header in a spreadsheet, if the header is row 1. */
export const DEFAULT_FIRST_ROW = 2;
const DELIMITERS = [',', ';', '\t', '|'] as const;
const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;
/** The delimiter is detected from at most this many bytes and lines. */
const SAMPLE_BYTES = 64 * 1024;
const SAMPLE_LINES = 20;
/** Matches a first line such as `sep=;`, which tells spreadsheet programs the delimiter. */
const SEPARATOR_LINE = /^"?sep=([,;\t|])"?\r?$/i;
const TOO_MANY_COLUMNS = `A file can have at most ${DATA_LIMITS.keys} columns.`;

export type CsvDelimiter = (typeof DELIMITERS)[number];

/** The part of a CSV file before its rows. */
export interface CsvHead {
  delimiter: CsvDelimiter;
  /** Byte offset of the first row. */
  firstRowAt: number;
  /** The number of the first row in a spreadsheet: 2, or more after blank lines before the header. */
  firstRow: number;
  /** The headers as in the file, without surrounding spaces. A file of this service keeps spaces in quotes. */
  headers: string[];
}

/**
 * Reads the header row of a CSV file: UTF-8 with or without a byte order mark, separated by commas, semicolons, tabs or
 * vertical bars.
 * @throws AppError VALIDATION_ERROR if the file is not UTF-8 text, or has too many columns
 */
export function readCsvHead(file: Uint8Array): CsvHead {
  assertUtf8(file);
  const bytes = toBuffer(file);
  const mark = bytes.subarray(0, 3).equals(Buffer.of(0xef, 0xbb, 0xbf)) ? 3 : 0;
  const lineEnd = detectLineEnd(bytes);
  const firstEnd = findByte(bytes, lineEnd, mark);
  const declared = SEPARATOR_LINE.exec(bytes.toString('utf8', mark, Math.min(firstEnd, mark + 10)))?.[1];
  const start = declared === undefined ? mark : Math.min(firstEnd + 1, bytes.length);
  const sample = bytes.toString('utf8', start, Math.min(bytes.length, start + SAMPLE_BYTES));
  const delimiter =
    DELIMITERS.find((candidate) => candidate === declared) ?? detectDelimiter(sample, String.fromCharCode(lineEnd));
  if (hasTooManyColumns(bytes, { start, delimiter, lineEnd }))
    throw createFieldError('file', TOO_MANY_COLUMNS, 'too_big');
  const records = readRecordsFrom(file, { delimiter, at: start });
  const written = (records.readHeader() ?? []).map((header) => (unescapeFormula(header) ?? header).normalize('NFC'));
  const headers = isOwnFile(written) ? written : written.map((header) => header.trim());
  return { delimiter, headers, firstRowAt: records.at, firstRow: DEFAULT_FIRST_ROW + records.blankRows };
}

/** Reads the records of a file from a byte offset on. */
export function readRecordsFrom(
  file: Uint8Array,
  { delimiter, at }: { delimiter: CsvDelimiter; at: number },
): CsvRecords {
  return new CsvRecords(toBuffer(file), { delimiter, recordMaxBytes: RECORD_MAX_BYTES, at });
}

/**
 * Detects the delimiter from the first lines, without their quoted text. The delimiter is the character that occurs in
 * the most lines as often as in the header row. If several characters qualify, the most frequent one in the header row
 * is the delimiter.
 */
function detectDelimiter(sample: string, lineEnd: string): CsvDelimiter {
  const lines = listUnquotedLines(sample, lineEnd);
  const [header = ''] = lines;
  const scores = DELIMITERS.map((delimiter) => {
    const count = countDelimiters(header, delimiter);
    const agreeing = lines.filter((line) => count > 0 && countDelimiters(line, delimiter) === count).length;
    return { delimiter, count, agreeing };
  });
  const best = scores.reduce((a, b) =>
    b.agreeing > a.agreeing || (b.agreeing === a.agreeing && b.count > a.count) ? b : a,
  );
  return best.delimiter;
}

const countDelimiters = (line: string, delimiter: string): number => line.split(delimiter).length - 1;

/** Returns the first non-blank lines, without quoted text. */
function listUnquotedLines(sample: string, lineEnd: string): string[] {
  const bare = sample.replace(/"(?:[^"]|"")*(?:"|$)/g, '');
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
  let blank = true; // Blank lines before the header are skipped.
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

/** Returns the offset of the next byte with this value, or the length of the file if there is no such byte. */
function findByte(bytes: Buffer, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at < 0 ? bytes.length : at;
}

export function toBuffer(file: Uint8Array): Buffer {
  return Buffer.from(file.buffer, file.byteOffset, file.byteLength);
}
