import { domainToASCII } from 'node:url';
import type { SmtpExtensions } from './extensions.ts';
import type { Payload } from './payload.ts';
import { refusal } from './refusal.ts';
import type { SmtpRefusal } from './types.ts';

/** The first two commands of a transaction, each with its CRLF, as strings of bytes. */
export interface Envelope {
  mail: string;
  rcpt: string;
}

/** Space, control characters and angle brackets would end the address early and let it write commands of its own. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const UNSAFE = /[\x00-\x20\x7f<>]/;
const QUOTED_LOCAL_PART = /^"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"@[^\s<>"]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is a range that holds control characters
const NOT_ASCII = /[^\x00-\x7f]/;

/**
 * Builds MAIL and RCPT for one message, with only the parameters that it needs and the server offers. Messages that the
 * server has said it refuses (longer than SIZE, a local part that needs SMTPUTF8) are refused here with the server's
 * code.
 */
export function envelopeOf(from: string, to: string, payload: Payload, offers: SmtpExtensions): Envelope | SmtpRefusal {
  if (!isUsable(to)) return refusal('rcpt', 553, '5.1.3 The recipient is not a usable address');
  if (from !== '' && !isUsable(from)) return refusal('mail', 553, '5.1.7 The sender is not a usable address');
  if (payload.bytes > offers.maxBytes) {
    return refusal('mail', 552, `5.3.4 The message has ${payload.bytes} octets, the server takes ${offers.maxBytes}`);
  }
  const sender = asciiDomain(from);
  const recipient = asciiDomain(to);
  const utf8 = NOT_ASCII.test(sender) || NOT_ASCII.test(recipient);
  if (utf8 && !offers.smtpUtf8) return refusal('rcpt', 553, '5.6.7 The server does not take non-ASCII addresses');
  let mail = `MAIL FROM:<${sender}>`;
  if (offers.size) mail += ` SIZE=${payload.bytes}`;
  // Without 8BITMIME the bytes are sent unchanged, as every mail server does, because a conversion would break
  // signatures.
  if (payload.eightBit && offers.eightBitMime) mail += ' BODY=8BITMIME';
  if (utf8) mail += ' SMTPUTF8';
  const envelope = { mail: `${mail}\r\n`, rcpt: `RCPT TO:<${recipient}>\r\n` };
  return utf8 ? { mail: utf8Bytes(envelope.mail), rcpt: utf8Bytes(envelope.rcpt) } : envelope;
}

/** A quoted local part may hold blanks and brackets (RFC 5321 §4.1.2). */
function isUsable(address: string): boolean {
  return UNSAFE.test(address) ? QUOTED_LOCAL_PART.test(address) : address.includes('@');
}

/** The domain in its ASCII form, so that SMTPUTF8 is needed for a local part only. */
function asciiDomain(address: string): string {
  if (!NOT_ASCII.test(address)) return address;
  const at = address.lastIndexOf('@');
  const domain = domainToASCII(address.slice(at + 1));
  return domain ? `${address.slice(0, at)}@${domain}` : address;
}

function utf8Bytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
