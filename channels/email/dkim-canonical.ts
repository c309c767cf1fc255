/** The relaxed canonicalization of DKIM (RFC 6376 §3.4.2 and §3.4.4). The strings have one character per byte. */

export interface HeaderField {
  /** The name of the field in lower case. */
  name: string;
  /** The value without line breaks, with each run of white space reduced to one space, and trimmed. */
  value: string;
}

/** Splits a message with CRLF line ends at the empty line after its header. */
export function splitMessage(message: string): { head: string; body: string } {
  const end = message.indexOf('\r\n\r\n');
  return end === -1 ? { head: message, body: '' } : { head: message.slice(0, end), body: message.slice(end + 4) };
}

/** Splits a message at the empty line after its header, like `splitMessage`, but does not copy the body. */
export function splitMessageBytes(message: Buffer): { head: string; body: Buffer } {
  const end = message.indexOf('\r\n\r\n', 0, 'latin1');
  return end === -1
    ? { head: message.toString('latin1'), body: message.subarray(message.length) }
    : { head: message.toString('latin1', 0, end), body: message.subarray(end + 4) };
}

/** Returns the header fields in their order, in canonical form. */
export function parseHeaderFields(head: string): HeaderField[] {
  const unfolded = head.replace(/\r\n(?=[ \t])/g, '');
  const fields: HeaderField[] = [];
  for (const line of unfolded.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon < 1) continue;
    fields.push({ name: line.slice(0, colon).trim().toLowerCase(), value: toRelaxedValue(line.slice(colon + 1)) });
  }
  return fields;
}

function toRelaxedValue(value: string): string {
  return value.replace(/[ \t]+/g, ' ').trim();
}

/**
 * Returns a body in relaxed canonical form: runs of white space become one space, white space at line ends and empty
 * lines at the end are removed, and the last line ends with CRLF.
 */
export function toRelaxedBody(body: string): string {
  const lines = toRelaxedLines(body);
  const end = lengthWithoutEndNewlines(lines);
  return end === 0 ? '' : `${lines.slice(0, end)}\r\n`;
}

/**
 * `relaxedBodyPieces` processes about this many bytes at a time, so that it never converts a body of several megabytes
 * to one string.
 */
const PIECE_BYTES = 256 * 1024;

/** Yields the result of `toRelaxedBody` in pieces, which the caller joins or hashes one after the other. */
export function* relaxedBodyPieces(body: Buffer): Generator<string> {
  let newlines = 0;
  let isEmpty = true;
  for (let at = 0; at < body.length; ) {
    const newline = body.indexOf('\r\n', at + PIECE_BYTES, 'latin1');
    const end = newline === -1 ? body.length : newline + 2;
    const lines = toRelaxedLines(body.toString('latin1', at, end));
    at = end;
    const textLength = lengthWithoutEndNewlines(lines);
    // The line ends after the last text belong to the body only if more text follows them.
    if (textLength > 0) {
      yield `${'\r\n'.repeat(newlines)}${lines.slice(0, textLength)}`;
      newlines = 0;
      isEmpty = false;
    }
    newlines += (lines.length - textLength) / 2;
  }
  if (!isEmpty) yield '\r\n';
}

function toRelaxedLines(text: string): string {
  return text
    .replace(/[ \t]{2,}|\t/g, ' ')
    .replaceAll(' \r\n', '\r\n')
    .replace(/ $/, '');
}

/**
 * Returns the length of the text without the line ends (CRLF) at its end. A regular expression would be slower, because
 * it would check every newline.
 */
function lengthWithoutEndNewlines(lines: string): number {
  let end = lines.length;
  while (end >= 2 && lines.endsWith('\r\n', end)) end -= 2;
  return end;
}
