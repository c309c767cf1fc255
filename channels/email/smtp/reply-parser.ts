import { decodeRawText } from '../../../rules/mime/header-charset.ts';

const LF = 10;
const CR = 13;
const DASH = 45;
const ZERO = 48;

/** The longest line of a reply. RFC 5321 §4.5.3.1.5 allows 512 bytes, but some servers send longer explanations. */
const MAX_LINE_BYTES = 4096;
/**
 * The maximum number of lines of a reply. A real reply is much shorter. Without this limit, a server that never ends
 * its reply would fill the memory.
 */
const MAX_REPLY_LINES = 200;

/** Thrown when a server's bytes are not SMTP or exceed a limit. The connection cannot be used any more. */
export class SmtpProtocolError extends Error {
  override name = 'SmtpProtocolError';
}

/**
 * Splits a stream of bytes into SMTP replies (RFC 5321 §4.2). Decodes the text of a reply only if its code is at least
 * `textFrom`, because an accepted message gets four replies, and the text of only the last one is used.
 */
export class ReplyParser {
  /** Replies with a smaller code get an empty text. */
  textFrom = 0;
  private readonly onReply: (code: number, text: string) => void;
  private rest: Buffer | null = null;
  private text = '';
  private lines = 0;
  private generation = 0;

  constructor(onReply: (code: number, text: string) => void) {
    this.onReply = onReply;
  }

  /**
   * Parses the first `length` bytes of `chunk`. The caller may reuse the buffer afterwards.
   * @throws SmtpProtocolError for bytes that are not a reply
   */
  feed(chunk: Buffer, length: number): void {
    const bytes = this.rest ? Buffer.concat([this.rest, chunk.subarray(0, length)]) : chunk;
    const end = this.rest ? bytes.length : length;
    const generation = this.generation;
    this.rest = null;
    let start = 0;
    for (let at = 0; at < end; at++) {
      if (bytes[at] !== LF) continue;
      this.parseLine(bytes, start, at);
      if (generation !== this.generation) return;
      start = at + 1;
    }
    if (end - start > MAX_LINE_BYTES) throw new SmtpProtocolError('the server sent a line without end');
    if (start < end) this.rest = Buffer.from(bytes.subarray(start, end));
  }

  /**
   * Discards the data after the current reply. Called before a TLS handshake, because an attacker may have added this
   * data (RFC 3207 §4.2), and when the connection is closed, to end the loop in `feed`.
   */
  dropBuffered(): void {
    this.generation += 1;
    this.rest = null;
    this.text = '';
    this.lines = 0;
  }

  private parseLine(bytes: Buffer, start: number, end: number): void {
    const stop = end > start && bytes[end - 1] === CR ? end - 1 : end;
    const code = parseCodeAt(bytes, start, stop);
    const isContinued = stop > start + 3 && bytes[start + 3] === DASH;
    if (code >= this.textFrom) {
      const raw = decodeRawText(bytes.subarray(Math.min(start + 4, stop), stop));
      const text = raw.includes('\0') ? raw.replaceAll('\0', '') : raw; // Postgres cannot store NUL.
      this.text = this.lines === 0 ? text : `${this.text}\n${text}`;
    }
    this.lines += 1;
    if (this.lines > MAX_REPLY_LINES) throw new SmtpProtocolError('the server sent a reply without end');
    if (isContinued) return;
    const text = this.text;
    this.text = '';
    this.lines = 0;
    this.onReply(code, text);
  }
}

function parseCodeAt(bytes: Buffer, start: number, stop: number): number {
  if (stop - start >= 3) {
    const a = (bytes[start] as number) - ZERO;
    const b = (bytes[start + 1] as number) - ZERO;
    const c = (bytes[start + 2] as number) - ZERO;
    if (a >= 2 && a <= 5 && b >= 0 && b <= 9 && c >= 0 && c <= 9) return a * 100 + b * 10 + c;
  }
  const excerpt = bytes.toString('latin1', start, Math.min(stop, start + 60));
  throw new SmtpProtocolError(`the server does not speak SMTP: ${JSON.stringify(excerpt)}`);
}
