import { isUtf8 } from 'node:buffer';

const BLANK_LINE = /\r?\n\r?\n|\r\r/;
const CHARSET = /^content-type[ \t]*:[^\n]*(?:\n[ \t][^\n]*)*?;\s*charset\s*=\s*"?([\w.:-]+)/im;
/** The charset of programs that write 8-bit text into headers without naming one. */
const FALLBACK = 'windows-1252';

/**
 * Decodes raw text of a protocol, such as a header or a reply. Only UTF-8 is allowed there (RFC 6531, RFC 6532), but old
 * programs write the charset of the body, or Windows's own.
 */
export function decodeRawText(bytes: Buffer, charset?: string): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  return decodeStrictly(bytes, charset ?? FALLBACK) ?? new TextDecoder(FALLBACK).decode(bytes);
}

/** Returns a message whose header lines are all valid UTF-8. Returns the same buffer if they already are. */
export function withUtf8Header(message: Buffer): Buffer {
  const end = headerEnd(message);
  const header = message.subarray(0, end);
  if (isUtf8(header)) return message;
  const text = header.toString('latin1');
  const charset = CHARSET.exec(text)?.[1];
  const lines = text.split(/(?<=\n)/).map((line) => decodeRawText(Buffer.from(line, 'latin1'), charset));
  return Buffer.concat([Buffer.from(lines.join(''), 'utf8'), message.subarray(end)]);
}

/**
 * Names the charset of a message without a Content-Type whose text is not UTF-8, which a parser would assume. Old mail
 * systems write such bounces.
 */
export function withNamedCharset(message: Buffer): Buffer {
  const end = headerEnd(message);
  if (isUtf8(message.subarray(end)) || /^content-type[ \t]*:/im.test(message.toString('latin1', 0, end)))
    return message;
  return Buffer.concat([Buffer.from(`Content-Type: text/plain; charset=${FALLBACK}\r\n`), message]);
}

/** Decodes text in a charset. Undefined if the charset is unknown, or the bytes are no text in it. */
export function decodeStrictly(bytes: Buffer, charset: string): string | undefined {
  try {
    // A decoder reads US-ASCII as Windows-1252, so that UTF-8 under a wrong name would become other letters.
    if (/^(us-)?ascii$/i.test(charset) && bytes.some((byte) => byte > 0x7f)) return undefined;
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The header limit of the parser (channels/mime-parser.ts). */
const HEADER_MAX_BYTES = 256 * 1024;

function headerEnd(message: Buffer): number {
  const start = message.toString('latin1', 0, Math.min(message.length, HEADER_MAX_BYTES));
  return BLANK_LINE.exec(start)?.index ?? start.length;
}
