/** A part of a message (RFC 2045, RFC 2046): the offsets of its header and body, and its declared type. */
export interface MimePart {
  /** The offset of the first header field. */
  start: number;
  /** The offset after the blank line that ends the header. */
  bodyStart: number;
  /** The offset after the last octet of the body. The line break before a boundary belongs to the boundary. */
  end: number;
  /** The content type in lower case, such as `text/html`. */
  type: string;
  /** The parameters of Content-Type. The names of the parameters are in lower case. */
  params: ReadonlyMap<string, string>;
  /** Content-Transfer-Encoding in lower case; `7bit` if the header is missing. */
  encoding: string;
  /** Content-Disposition without parameters, in lower case; empty if the header is missing. */
  disposition: string;
  /** The parts of a multipart. An attached message (message/rfc822) is not divided. */
  parts: MimePart[];
}

/** A raw header field, including folds and line break. */
export interface RawField {
  /** The name in lower case. */
  name: string;
  /** The offset in the message where the field starts. `end` is the offset after the field. */
  start: number;
  end: number;
}

/** The maximum depth of nested parts. Email clients write fewer levels (channels/mime-parser.ts has the same limit). */
const DEPTH_MAX = 30;
const CRLF = '\r\n';
const BLANK_LINE = '\r\n\r\n';
const TYPE = /^\s*([\w!#$&^.+-]+\/[\w!#$&^.+-]+)/;
/** Matches the name of a parameter, the number of a piece of its value, and the mark of percent encoding (RFC 2231). */
const EXTENDED_NAME = /^([^*]+)(?:\*(\d{1,3}))?(\*)?$/;
/**
 * The maximum number of pieces of a parameter's value. Email clients write fewer, because a boundary has at most 70
 * characters.
 */
const PIECES_MAX = 100;
const PARAMETER = /;\s*([\w!#$&^.+*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;]*))/g;

/** Finds the parts of a message whose lines all end with CRLF. Does not decode or change anything. */
export function findMimeParts(message: Buffer): MimePart {
  return findPart(message, { start: 0, end: message.length, depth: 0, defaultType: 'text/plain' });
}

interface Span {
  start: number;
  end: number;
  depth: number;
  /**
   * The type of a part without Content-Type. In a multipart/digest, the default type is message/rfc822 (RFC 2046
   * §5.1.5).
   */
  defaultType: string;
}

function findPart(message: Buffer, { start, end, depth, defaultType }: Span): MimePart {
  const bodyStart = findBodyStart(message, start, end);
  const fields = findRawFields(message, start, bodyStart);
  const value = (name: string) => readFieldValue(message, fields, name);
  const contentType = value('content-type');
  const part: MimePart = {
    start,
    bodyStart,
    end,
    type: TYPE.exec(contentType)?.[1]?.toLowerCase() ?? defaultType,
    params: parseParameters(contentType),
    encoding: value('content-transfer-encoding').trim().toLowerCase() || '7bit',
    disposition: (value('content-disposition').split(';')[0] ?? '').trim().toLowerCase(),
    parts: [],
  };
  const boundary = part.params.get('boundary');
  if (!part.type.startsWith('multipart/') || !boundary || depth >= DEPTH_MAX) return part;
  const inner = part.type === 'multipart/digest' ? 'message/rfc822' : 'text/plain';
  part.parts = findBodies(message, part, boundary).map((span) =>
    findPart(message, { ...span, depth: depth + 1, defaultType: inner }),
  );
  return part;
}

/** Finds the header fields between two offsets. A line that does not start a field belongs to the field before it. */
export function findRawFields(message: Buffer, start: number, end: number): RawField[] {
  const fields: RawField[] = [];
  for (let at = start; at < end; ) {
    const lineEnd = message.indexOf(CRLF, at);
    const next = lineEnd === -1 || lineEnd + 2 > end ? end : lineEnd + 2;
    const name = /^([!-9;-~]+)[ \t]*:/.exec(message.toString('latin1', at, Math.min(next, at + 200)))?.[1];
    const last = fields.at(-1);
    if (name !== undefined) fields.push({ name: name.toLowerCase(), start: at, end: next });
    else if (last && next - at > 2) last.end = next;
    at = next;
  }
  return fields;
}

/** Returns the unfolded value of the first field with a name, as latin1. Empty if the field is missing. */
export function readFieldValue(message: Buffer, fields: readonly RawField[], name: string): string {
  const field = fields.find((candidate) => candidate.name === name);
  if (!field) return '';
  return readUnfoldedValue(message.toString('latin1', field.start, field.end));
}

/** Returns the value of a raw field on one line (RFC 5322 §2.2.3). */
export function readUnfoldedValue(field: string): string {
  return field
    .slice(field.indexOf(':') + 1)
    .replace(/\r\n(?=[ \t])/g, '')
    .trim();
}

/** Returns the offset after the blank line that ends the header of a message, or of the part between two offsets. */
export function findBodyStart(message: Buffer, start = 0, end = message.length): number {
  // A part without a header starts with the blank line.
  if (message.toString('latin1', start, start + 2) === CRLF) return Math.min(start + 2, end);
  // Searches only within the part. With very many parts, a search to the end of the message for each part would take
  // minutes.
  const blank = message.subarray(start, end).indexOf(BLANK_LINE);
  return blank === -1 ? end : start + blank + 4;
}

/**
 * Reads the parameters of Content-Type, including values in several pieces and values with percent encoding (RFC 2231
 * §3, §4).
 */
function parseParameters(contentType: string): Map<string, string> {
  const params = new Map<string, string>();
  const pieces = new Map<string, string[]>();
  for (const [, pattern = '', quoted, plain] of contentType.matchAll(PARAMETER)) {
    const value = quoted === undefined ? (plain ?? '') : quoted.replace(/\\(.)/g, '$1');
    const [, name = '', number, encoded] = EXTENDED_NAME.exec(pattern.toLowerCase()) ?? [];
    if (number === undefined && encoded === undefined) {
      if (!params.has(name)) params.set(name, value);
      continue;
    }
    const index = Number(number ?? 0);
    if (index > PIECES_MAX) continue;
    const all = pieces.get(name) ?? [];
    all[index] ??= encoded === undefined ? value : decodeExtended(value, index === 0);
    pieces.set(name, all);
  }
  for (const [name, all] of pieces) {
    if (all[0] !== undefined) params.set(name, all.join(''));
  }
  return params;
}

/**
 * Decodes a value such as `charset'language'a%20b` to bytes as latin1. Only the first piece of a value names the
 * charset.
 */
function decodeExtended(value: string, isFirst: boolean): string {
  const text = isFirst ? value.replace(/^[^']*'[^']*'/, '') : value;
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Returns the spans between the boundary lines of a multipart, without preamble and epilogue. */
function findBodies(message: Buffer, part: MimePart, boundary: string): { start: number; end: number }[] {
  const delimiter = `--${boundary}`;
  const spans: { start: number; end: number }[] = [];
  let bodyStart: number | undefined;
  const within = message.subarray(0, part.end);
  for (let at = within.indexOf(delimiter, part.bodyStart, 'latin1'); at !== -1; ) {
    const after = at + delimiter.length;
    const lineEnd = message.indexOf(CRLF, after);
    const rest = message.toString('latin1', after, Math.min(lineEnd === -1 ? part.end : lineEnd, after + 80));
    const startsLine = at === part.bodyStart || message[at - 1] === 10;
    if (startsLine && /^(--)?[ \t]*$/.test(rest)) {
      if (bodyStart !== undefined) spans.push({ start: bodyStart, end: Math.max(bodyStart, at - 2) });
      if (rest.startsWith('--') || lineEnd === -1) return spans;
      bodyStart = lineEnd + 2;
    }
    at = within.indexOf(delimiter, after, 'latin1');
  }
  // If a message was cut off, its last boundary is missing.
  if (bodyStart !== undefined && bodyStart < part.end) spans.push({ start: bodyStart, end: part.end });
  return spans;
}

/** Matches types whose bodies must not change, because a signature covers them or another program reads them. */
const PROTECTED = /^(multipart\/(signed|encrypted|report)|application\/(x-)?pkcs7-mime|message\/.*)$/;

/** Tells whether a part must be sent byte for byte. */
export function isProtectedPart({ type }: MimePart): boolean {
  return PROTECTED.test(type);
}

/** Returns the HTML part that may be changed. Undefined if the email has no such part, or more than one. */
export function findOnlyHtmlPart(root: MimePart): MimePart | undefined {
  const found = listChangeableParts(root).filter(
    // An inline part with a name is a file, not the text of the email.
    ({ type, disposition, params }) =>
      type === 'text/html' && disposition !== 'attachment' && !(disposition === 'inline' && params.has('name')),
  );
  return found.length === 1 ? found[0] : undefined;
}

function listChangeableParts(part: MimePart): MimePart[] {
  if (isProtectedPart(part)) return [];
  return part.parts.length > 0 ? part.parts.flatMap(listChangeableParts) : [part];
}

/**
 * Returns a header with another Content-Transfer-Encoding. `header` must end with CRLF, because the field may be
 * appended.
 */
export function withTransferEncoding(header: string, encoding: string): string {
  const field = `Content-Transfer-Encoding: ${encoding}\r\n`;
  const pattern = /^content-transfer-encoding[ \t]*:[^\r\n]*\r\n(?:[ \t][^\r\n]*\r\n)*/im;
  return pattern.test(header) ? header.replace(pattern, field) : header + field;
}
