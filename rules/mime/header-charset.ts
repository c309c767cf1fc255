import { isUtf8 } from 'node:buffer';
import { replaceC1Controls } from './windows-1252.ts';

const BLANK_LINE = /\r?\n\r?\n|\r\r/;
const CHARSET = /^content-type[ \t]*:[^\n]*(?:\n[ \t][^\n]*)*?;\s*charset\s*=\s*"?([\w.:-]+)/im;
/** The assumed charset of 8-bit text in a header or a message that names no charset. */
const FALLBACK = 'windows-1252';

/**
 * Decodes raw text of a protocol, such as a header or a reply. Only UTF-8 is allowed there (RFC 6531, RFC 6532), but
 * old programs use the charset of the body, or Windows-1252.
 */
export function decodeRawText(bytes: Buffer, charset?: string): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  return decodeStrictly(bytes, charset ?? FALLBACK) ?? replaceC1Controls(bytes.toString('latin1'));
}

/** Converts the header of a message to UTF-8. Returns the same buffer if the header is already valid UTF-8. */
export function withUtf8Header(message: Buffer): Buffer {
  const end = findHeaderEnd(message);
  const header = message.subarray(0, end);
  if (isUtf8(header)) return message;
  const text = header.toString('latin1');
  const charset = CHARSET.exec(text)?.[1];
  const lines = text.split(/(?<=\n)/).map((line) => decodeRawText(Buffer.from(line, 'latin1'), charset));
  return Buffer.concat([Buffer.from(lines.join(''), 'utf8'), message.subarray(end)]);
}

/** Matches the field Content-Type with its parameters. */
const TYPE = /^(content-type[ \t]*:[ \t]*)([\w+./-]+)((?:[^\r\n]|\r?\n[ \t])*)/im;

/**
 * Adds a charset to a message that names none, if its text is not UTF-8, because a parser would assume UTF-8. Old mail
 * systems write bounces without a charset, and old programs write email without one. A multipart message without a
 * boundary becomes text, because its parts cannot be found.
 */
export function addMissingCharset(message: Buffer): Buffer {
  const end = findHeaderEnd(message);
  const isOther = !isUtf8(message.subarray(end));
  const header = message.toString('latin1', 0, end);
  const [field, name = '', type = 'text/plain', params = ''] = TYPE.exec(header) ?? [];
  const replaceHeader = (text: string) => Buffer.concat([Buffer.from(text, 'latin1'), message.subarray(end)]);
  const charset = isOther ? `; charset=${FALLBACK}` : '';
  if (field === undefined) return isOther ? replaceHeader(`Content-Type: ${type}${charset}\r\n${header}`) : message;
  const isBroken = /^multipart\//i.test(type) && !/;\s*boundary\b/i.test(params);
  if (isBroken) return replaceHeader(header.replace(TYPE, `${name}text/plain${charset}`));
  const isUnnamed = isOther && /^text\//i.test(type) && !/;\s*charset\b/i.test(params);
  return isUnnamed ? replaceHeader(header.replace(TYPE, () => `${name}${type}${charset}${params}`)) : message;
}

/** Decodes text in a charset. Undefined if the charset is unknown, or if the bytes are not valid in this charset. */
export function decodeStrictly(bytes: Buffer, charset: string): string | undefined {
  try {
    // `TextDecoder` treats US-ASCII as Windows-1252. UTF-8 text that is labeled as US-ASCII would therefore be decoded
    // to wrong letters.
    if (/^(us-)?ascii$/i.test(charset) && bytes.some((byte) => byte > 0x7f)) return undefined;
    const decoder = new TextDecoder(charset, { fatal: true });
    const text = decoder.decode(bytes);
    return decoder.encoding === FALLBACK ? replaceC1Controls(text) : text;
  } catch {
    return undefined;
  }
}

/** The maximum size of a header, as in the parser (channels/mime-parser.ts). */
const HEADER_MAX_BYTES = 256 * 1024;

function findHeaderEnd(message: Buffer): number {
  const start = message.toString('latin1', 0, Math.min(message.length, HEADER_MAX_BYTES));
  return BLANK_LINE.exec(start)?.index ?? start.length;
}
