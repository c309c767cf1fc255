import { isAscii } from 'node:buffer';
import { withCrlf } from '../../../rules/mime/crlf.ts';

/** The end of the data: the end of the last line if it is missing, and the lone dot. */
const END_AFTER_NEWLINE = '.\r\n';
const END = '\r\n.\r\n';

/** A message in the form that is sent after the 354. */
export interface Payload {
  data: string | Buffer;
  end: string;
  /** Octets of the message, as SIZE counts them (RFC 1870 §3). */
  bytes: number;
  eightBit: boolean;
}

/**
 * Prepares a message for DATA: a bare CR or LF becomes CRLF (it could smuggle a second message past a filter), and a
 * dot at the start of a line is doubled (RFC 5321 §4.5.2). A canonical message does not change.
 */
export function payloadOf(data: string | Buffer, canonical: boolean): Payload {
  if (canonical) return { data, end: END_AFTER_NEWLINE, bytes: data.length, eightBit: false };
  if (typeof data === 'string') return payloadOf(Buffer.from(data, 'latin1'), false);
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
