/**
 * The maximum length of a line without the `=` of a soft line break. With the `=`, a line has 76 characters (RFC 2045
 * §6.7).
 */
const LINE_CHARS = 75;

const HEX = Array.from({ length: 256 }, (_, byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`);
const SPACE = 0x20;
const DOT = 0x2e;
const EQUALS = 0x3d;
const LF = 0x0a;
const CR = 0x0d;

/**
 * Writes quoted-printable in canonical form: ASCII, CRLF, no two spaces in a row, no space at the end of a line, and no
 * dot at the start of a line. SMTP's dot-stuffing (RFC 5321 §4.5.2) and DKIM's relaxed canonicalization (RFC 6376
 * §3.4.4) therefore do not change the text. Text can be written in several calls, because the writer stores the current
 * column.
 */
export class QuotedPrintableWriter {
  private out = '';
  private column = 0;

  /** Writes any text. CR, LF and CRLF become CRLF. */
  writeText(text: string): this {
    return this.writeBytes(Buffer.from(text, 'utf8'));
  }

  /** Writes encoded text. The charset of the text must have the same bytes for line breaks as ASCII. */
  writeBytes(bytes: Buffer): this {
    let wasSpace = false;
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] ?? 0;
      if (byte === LF || byte === CR) {
        if (byte === CR && bytes[i + 1] === LF) i++;
        this.out += '\r\n';
        this.column = 0;
        wasSpace = false;
      } else if (byte === SPACE) {
        const isLast = i + 1 === bytes.length || bytes[i + 1] === LF || bytes[i + 1] === CR;
        this.writeUnit(wasSpace || isLast ? '=20' : ' ');
        wasSpace = !(wasSpace || isLast);
      } else {
        this.writeUnit(this.encodeByte(byte));
        wasSpace = false;
      }
    }
    return this;
  }

  /** Adds a soft line break unless the line has just started, so that the next text starts at column 0. */
  addSoftBreak(): this {
    if (this.column > 0) this.out += '=\r\n';
    this.column = 0;
    return this;
  }

  /**
   * Reserves space in the line for `chars` characters that need no encoding, at most one line. The caller inserts these
   * characters later.
   */
  reserve(chars: number): this {
    if (this.column + chars > LINE_CHARS) this.addSoftBreak();
    this.column += chars;
    return this;
  }

  /** Returns the text written since the last call. The column does not change. */
  take(): string {
    const text = this.out;
    this.out = '';
    return text;
  }

  private encodeByte(byte: number): string {
    const plain = byte > SPACE && byte < 0x7f && byte !== EQUALS && !(byte === DOT && this.wouldStartLine(1));
    return plain ? String.fromCharCode(byte) : (HEX[byte] ?? '');
  }

  private wouldStartLine(chars: number): boolean {
    return this.column === 0 || this.column + chars > LINE_CHARS;
  }

  private writeUnit(unit: string): void {
    if (this.column + unit.length > LINE_CHARS) this.addSoftBreak();
    this.out += unit;
    this.column += unit.length;
  }
}

/** Decodes a body, including soft line breaks. Invalid escapes are kept unchanged (RFC 2045 §6.7). */
export function decodeQuotedPrintable(body: string): Buffer {
  // The pattern matches only from the first space of a run, because matching from each space would take quadratic time.
  const joined = body.replace(/(?<![ \t])[ \t]+(?=\r?$)/gm, '').replace(/=\r?\n/g, '');
  const bytes = joined.replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1');
}

/** Encodes text that starts at column 0. */
export function encodeQuotedPrintable(text: string): string {
  return new QuotedPrintableWriter().writeText(text).take();
}

/** Matches values that neither the encoder nor `escapeHtml` would change. Most values of contacts are of this kind. */
const SAFE_VALUE = /^[A-Za-z0-9,:;@_()+*!?$%#/-][A-Za-z0-9.,:;@_()+*!?$%#/-]*(?: [A-Za-z0-9.,:;@_()+*!?$%#/-]+)*$/;

/** Tells whether a value can be written unchanged on a separate line, in HTML and in plain text. */
export function isSafeValue(value: string): boolean {
  return value.length <= LINE_CHARS && SAFE_VALUE.test(value);
}
