import { isAscii } from 'node:buffer';
import { withCrlf } from '../../../rules/mime/crlf.ts';

/**
 * The lone dot that ends a message. `END` is for a message whose last line has no line end, and adds the line end
 * first.
 */
const END_AFTER_NEWLINE = '.\r\n';
const END = '\r\n.\r\n';

/** A message in the form that the client sends after the server's 354 reply. */
export interface Payload {
  data: string | Buffer;
  end: string;
  /** The number of octets of the message, as the parameter SIZE counts them (RFC 1870 §3). */
  bytes: number;
  eightBit: boolean;
}

/**
 * Prepares a message for DATA. Converts a single CR or LF to CRLF, because an attacker could use it to smuggle a second
 * message past a filter. Doubles a dot at the start of a line (RFC 5321 §4.5.2). With `canonical`, neither checks nor
 * changes the message (see `SmtpMessage.canonical`).
 */
export function buildPayload(data: string | Buffer, canonical: boolean): Payload {
  if (canonical) return { data, end: END_AFTER_NEWLINE, bytes: data.length, eightBit: false };
  if (typeof data === 'string') return buildPayload(Buffer.from(data, 'latin1'), false);
  const lines = withCrlf(data);
  const stuffed = hasLeadingDot(lines) ? withDotsDoubled(lines) : lines;
  return {
    data: stuffed,
    end: stuffed.length === 0 || endsWithNewline(stuffed) ? END_AFTER_NEWLINE : END,
    bytes: lines.length,
    eightBit: isEightBit(stuffed),
  };
}

function hasLeadingDot(data: Buffer): boolean {
  return data[0] === 46 || data.includes('\n.', 0, 'latin1');
}

function endsWithNewline(data: Buffer): boolean {
  return data[data.length - 1] === 10;
}

function isEightBit(data: Buffer): boolean {
  return !isAscii(data);
}

function withDotsDoubled(data: Buffer): Buffer {
  const text = data.toString('latin1').replaceAll('\n.', '\n..');
  return Buffer.from(text.startsWith('.') ? `.${text}` : text, 'latin1');
}
