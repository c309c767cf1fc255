import { fieldError } from '../errors.ts';
import { DATA_LIMITS } from '../filters/data-values.ts';
import { assertUtf8 } from './csv-encoding.ts';
import { CsvRecords, lineEndOf } from './csv-records.ts';
import { unescapeFormula } from './formula-text.ts';

/** Size of an uploaded file. Source: contract §1.11 Limits. */
export const CSV_MAX_BYTES = 5 * 1024 * 1024;
/** A longer record has more data than a contact may have. The limit also stops at a quote that is never closed. */
const RECORD_MAX_BYTES = 2 * DATA_LIMITS.bytes;
const DELIMITERS = [',', ';', '\t', '|'] as const;
const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;
/** The part of a file that is enough to detect its delimiter. */
const SAMPLE_BYTES = 64 * 1024;
const SAMPLE_LINES = 20;
/** The line that tells spreadsheets the delimiter. */
const SEPARATOR_LINE = /^"?sep=([,;\t|])"?\r?$/i;
const TOO_MANY_COLUMNS = `A file has at most ${DATA_LIMITS.keys} columns.`;

export type CsvDelimiter = (typeof DELIMITERS)[number];

/** Everything before the rows. */
export interface CsvHead {
  delimiter: CsvDelimiter;
  /** Byte offset of the first row. */
  firstRowAt: number;
  /** The headers as written, without surrounding spaces. */
  headers: string[];
}

/**
 * Reads the header row of a CSV file: UTF-8 with or without a mark, separated by commas, semicolons, tabs or bars.
 * @throws AppError VALIDATION_ERROR when the file is no UTF-8 text, or has too many columns
 */
export function readCsvHead(file: Uint8Array): CsvHead {
  assertUtf8(file);
  const bytes = toBuffer(file);
  const mark = bytes.subarray(0, 3).equals(Buffer.of(0xef, 0xbb, 0xbf)) ? 3 : 0;
  const lineEnd = lineEndOf(bytes);
  const firstEnd = indexOf(bytes, lineEnd, mark);
  const declared = SEPARATOR_LINE.exec(bytes.toString('utf8', mark, Math.min(firstEnd, mark + 10)))?.[1];
  const start = declared === undefined ? mark : Math.min(firstEnd + 1, bytes.length);
  const beginning = bytes.toString('utf8', start, Math.min(bytes.length, start + SAMPLE_BYTES));
  const delimiter = DELIMITERS.find((one) => one === declared) ?? delimiterOf(beginning, String.fromCharCode(lineEnd));
  if (hasTooManyColumns(bytes, { start, delimiter, lineEnd })) throw fieldError('file', TOO_MANY_COLUMNS, 'too_big');
  const records = recordsFrom(file, { delimiter, at: start });
  const headers = (records.header() ?? []).map((header) => (unescapeFormula(header) ?? header).trim().normalize('NFC'));
  return { delimiter, headers, firstRowAt: records.at };
}

/** Reads the records of a file from a byte offset on. */
export function recordsFrom(file: Uint8Array, { delimiter, at }: { delimiter: CsvDelimiter; at: number }): CsvRecords {
  return new CsvRecords(toBuffer(file), { delimiter, recordMaxBytes: RECORD_MAX_BYTES, at });
}

/**
 * Returns the delimiter on which the first lines agree: outside quotes, the one that most lines contain as often as
 * the header row does; if several qualify, the most frequent one in the header row.
 */
function delimiterOf(beginning: string, lineEnd: string): CsvDelimiter {
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

/** Returns the offset of the next such byte, or of the end of the file. */
function indexOf(bytes: Buffer, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at < 0 ? bytes.length : at;
}

export function toBuffer(file: Uint8Array): Buffer {
  return Buffer.from(file.buffer, file.byteOffset, file.byteLength);
}
