import { domainToASCII } from 'node:url';
import type { SmtpExtensions } from './extensions.ts';
import type { Payload } from './payload.ts';
import { buildRefusal } from './refusal.ts';
import type { SmtpRefusal } from './types.ts';

/** The first two commands of a transaction, each with its CRLF. The strings have one character per byte. */
export interface Envelope {
  mail: string;
  rcpt: string;
}

/**
 * Characters that would end an address early: spaces, control characters and angle brackets. An address with them could
 * contain SMTP commands.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters
const UNSAFE = /[\x00-\x20\x7f<>]/;
const QUOTED_LOCAL_PART = /^"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"@[^\s<>"]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII includes control characters
const NOT_ASCII = /[^\x00-\x7f]/;

/**
 * Builds the commands MAIL and RCPT for one message, with the parameters that the message needs and the server
 * supports. Returns a refusal instead if an address is not usable, if the message is longer than SIZE, or if an address
 * needs SMTPUTF8 and the server does not support SMTPUTF8. The refusal has the code that a server would send.
 */
export function buildEnvelope(
  from: string,
  to: string,
  payload: Payload,
  offers: SmtpExtensions,
): Envelope | SmtpRefusal {
  if (!isUsable(to)) return buildRefusal('rcpt', 553, '5.1.3 The recipient is not a usable address');
  if (from !== '' && !isUsable(from)) return buildRefusal('mail', 553, '5.1.7 The sender is not a usable address');
  if (payload.bytes > offers.maxBytes) {
    return buildRefusal(
      'mail',
      552,
      `5.3.4 The message has ${payload.bytes} octets, the server takes ${offers.maxBytes}`,
    );
  }
  const sender = withAsciiDomain(from);
  const recipient = withAsciiDomain(to);
  const utf8 = NOT_ASCII.test(sender) || NOT_ASCII.test(recipient);
  if (utf8 && !offers.smtpUtf8) return buildRefusal('rcpt', 553, '5.6.7 The server does not take non-ASCII addresses');
  let mail = `MAIL FROM:<${sender}>`;
  if (offers.size) mail += ` SIZE=${payload.bytes}`;
  // If the server does not support 8BITMIME, the bytes are still sent unchanged, as other mail servers do. A conversion
  // would make signatures invalid.
  if (payload.eightBit && offers.eightBitMime) mail += ' BODY=8BITMIME';
  if (utf8) mail += ' SMTPUTF8';
  const envelope = { mail: `${mail}\r\n`, rcpt: `RCPT TO:<${recipient}>\r\n` };
  return utf8 ? { mail: toUtf8Bytes(envelope.mail), rcpt: toUtf8Bytes(envelope.rcpt) } : envelope;
}

/**
 * Tells whether an address can safely be a part of a command. A quoted local part may contain spaces and brackets (RFC
 * 5321 §4.1.2).
 */
function isUsable(address: string): boolean {
  return UNSAFE.test(address) ? QUOTED_LOCAL_PART.test(address) : address.includes('@');
}

/** Returns the address with its domain in ASCII, so that only a local part can need SMTPUTF8. */
function withAsciiDomain(address: string): string {
  if (!NOT_ASCII.test(address)) return address;
  const at = address.lastIndexOf('@');
  const domain = domainToASCII(address.slice(at + 1));
  return domain ? `${address.slice(0, at)}@${domain}` : address;
}

function toUtf8Bytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
