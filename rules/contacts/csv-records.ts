const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;
const SPACE = 0x20;
const TAB = 0x09;

export interface CsvFormat {
  delimiter: string;
  /**
   * A longer record counts as unreadable. Without this limit, a quote that is never closed would make the rest of the
   * file one record.
   */
  recordMaxBytes: number;
}

interface Field {
  value: string;
  /** The offset of the delimiter or line end after the field, or the length of the file. */
  endAt: number;
}

interface CsvRecord {
  values: string[];
  /** The offset after the record and its line end. */
  endAt: number;
}

/**
 * Reads the records of a CSV file (RFC 4180) one after the other. A line that cannot be read is returned unchanged, and
 * reading continues with the next line. Lines end with LF, or with CR in a file without any LF. A CR before an LF is
 * not part of the last value. Each byte is read at most four times, whatever the file contains. The costly case is an
 * unmatched quote: the record then extends to the next line with an odd number of quotes, and no later record extends
 * beyond that line. The reader refuses this record, finds the end of its first line, and reads that line again alone.
 */
export class CsvRecords {
  /** The offset of the next record. */
  at: number;
  /** The number of skipped rows: blank lines, and rows that contain only delimiters. */
  blankRows = 0;
  /** The number of bytes that were read. A byte that is read twice counts twice. */
  bytesRead = 0;
  private readonly bytes: Buffer;
  private readonly delimiter: number;
  private readonly recordMaxBytes: number;
  private readonly lineEnd: number;

  constructor(bytes: Buffer, p: CsvFormat & { at: number }) {
    this.bytes = bytes;
    this.at = p.at;
    this.delimiter = p.delimiter.charCodeAt(0);
    this.recordMaxBytes = p.recordMaxBytes;
    this.lineEnd = detectLineEnd(bytes);
  }

  /** Returns the values of the header row. Undefined if it cannot be read. */
  readHeader(): string[] | undefined {
    this.skipBlankLines();
    const record = this.read(this.at, false);
    this.at = record?.endAt ?? this.at;
    return record?.values;
  }

  /**
   * Returns the values of the next record, or the line that cannot be read. Undefined at the end of the file. A record
   * over several lines is refused if its number of values differs from the header's, because two stray quotes probably
   * enclose the text between them. In a line that breaks the CSV rules, quotes inside values are read literally,
   * provided that the line then has the right number of values.
   */
  next(columns: number): string[] | { unreadable: string } | undefined {
    this.skipBlankLines();
    this.skipEmptyRows();
    if (this.at >= this.bytes.length) return undefined;
    const startAt = this.at;
    const record = this.read(startAt, false);
    this.at = record?.values.length === columns ? record.endAt : this.findLineEnd(startAt);
    if (record && this.at >= record.endAt) return record.values;
    const line = this.at - startAt > this.recordMaxBytes ? undefined : this.read(startAt, true);
    return line?.values.length === columns
      ? line.values
      : { unreadable: this.bytes.toString('utf8', startAt, this.at) };
  }

  private skipBlankLines(): void {
    const { bytes } = this;
    for (let byte = bytes[this.at]; byte === LF || byte === CR; byte = bytes[this.at]) {
      if (byte === this.lineEnd) this.blankRows += 1;
      this.at += 1;
    }
  }

  /** Skips rows that contain only delimiters. Spreadsheet programs write such rows below a table. */
  private skipEmptyRows(): void {
    const { bytes, delimiter } = this;
    for (let at = this.at; at <= bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte === this.lineEnd) this.blankRows += 1;
      if (byte === undefined || byte === LF || byte === CR) this.at = Math.min(at + 1, bytes.length);
      else if (byte !== delimiter) return;
    }
  }

  /**
   * Reads one record. If `relaxed` is true, reading stops at the end of the line, and quotes inside a value are
   * literal.
   */
  private read(startAt: number, relaxed: boolean): CsvRecord | undefined {
    const { bytes } = this;
    const limit = relaxed ? this.at : Math.min(bytes.length, startAt + this.recordMaxBytes);
    const values: string[] = [];
    for (let at = startAt; ; at += 1) {
      const begin = this.skipBlanks(at, limit);
      const quoted = begin < limit && bytes[begin] === QUOTE;
      const field = quoted ? this.readQuoted(begin, limit, relaxed) : this.readPlain(begin, limit, relaxed);
      if (!field) return undefined;
      values.push(field.value);
      at = field.endAt;
      if (at >= limit) return limit === bytes.length ? { values, endAt: limit } : undefined;
      if (bytes[at] === this.lineEnd) return { values, endAt: at + 1 };
    }
  }

  /**
   * Skips spaces and tabs around a value. Spaces and tabs do not belong to the value, also next to quotes: `"a", "b"`.
   */
  private skipBlanks(from: number, limit: number): number {
    let at = from;
    while (at < limit && (this.bytes[at] === SPACE || (this.bytes[at] === TAB && this.delimiter !== TAB))) at += 1;
    this.bytesRead += at - from;
    return at;
  }

  private readPlain(startAt: number, limit: number, relaxed: boolean): Field | undefined {
    const { bytes, delimiter, lineEnd } = this;
    let at = startAt;
    let stray = false;
    while (at < limit && bytes[at] !== delimiter && bytes[at] !== lineEnd && !stray) {
      stray = bytes[at] === QUOTE && !relaxed;
      at += 1;
    }
    this.bytesRead += Math.min(at + 1, limit) - startAt;
    // Spaces next to a delimiter do not belong to the value. A value that starts or ends with spaces must be quoted.
    return stray ? undefined : { value: bytes.toString('utf8', startAt, at).trim(), endAt: at };
  }

  private readQuoted(startAt: number, limit: number, relaxed: boolean): Field | undefined {
    const { bytes } = this;
    let value = '';
    for (let from = startAt + 1; ; from += 1) {
      const length = bytes.subarray(from, limit).indexOf(QUOTE);
      this.bytesRead += length < 0 ? limit - from : length + 2;
      if (length < 0) return undefined;
      value += bytes.toString('utf8', from, from + length);
      from += length + 1;
      if (bytes[from] === QUOTE && from < limit) {
        value += '"';
        continue;
      }
      const endAt = this.findFieldEnd(this.skipBlanks(from, limit));
      if (endAt !== undefined) return { value, endAt };
      const rest = relaxed ? this.readPlain(from, limit, true) : undefined;
      return rest && { value: `"${value}"${bytes.toString('utf8', from, rest.endAt).trimEnd()}`, endAt: rest.endAt };
    }
  }

  /**
   * Returns the offset where a quoted field ends, if only a delimiter or a line end follows its closing quote.
   * Undefined if other text follows.
   */
  private findFieldEnd(at: number): number | undefined {
    const { bytes } = this;
    const next = bytes[at] === CR && this.lineEnd === LF ? at + 1 : at;
    if (next >= bytes.length || bytes[next] === this.lineEnd) return next;
    return bytes[at] === this.delimiter ? at : undefined;
  }

  /** Returns the offset after the line that starts at `at`. */
  private findLineEnd(at: number): number {
    const end = this.bytes.indexOf(this.lineEnd, at);
    const endAt = end < 0 ? this.bytes.length : end + 1;
    this.bytesRead += endAt - at;
    return endAt;
  }
}

/** Returns the byte that ends the lines of a file: LF, or CR if the file contains no LF. */
export function detectLineEnd(bytes: Buffer): number {
  return bytes.includes(LF) ? LF : CR;
}
