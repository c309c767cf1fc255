import { domainToASCII } from 'node:url';

/** An address in a header, with an optional display name. */
export interface HeaderMailbox {
  name?: string | null;
  email: string;
}

/** RFC 5322 §2.1.1: a line should have at most 78 characters, and must have at most 998. */
const LINE_CHARS = 78;
const LINE_MAX_CHARS = 998;
const FOLD = '\r\n ';
/** A longer word must be encoded, because lines are folded only at spaces. */
const FOLDABLE_WORD_CHARS = 200;
/**
 * An encoded word has at most 75 characters (RFC 2047 §2). `=?utf-8?B?` and `?=` take 12 of them, and 60 characters of
 * base64 encode 45 bytes.
 */
const WORD_BYTES = 45;

const ATOM_PHRASE = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?: [A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
/** Matches the names of fields that contain message ids. Source: RFC 5322 §3.6.4. */
export const ID_FIELD_PATTERN = /^(?:message-id|in-reply-to|references)$/i;
const HEADER_NAME = /^[!-9;-~]+$/;

/**
 * Returns a header line for free text such as the subject, with CRLF at its end. Line breaks and control characters
 * become a space, so that the text cannot add another header. Non-ASCII text becomes encoded words (RFC 2047). Long
 * lines are folded.
 * @throws RangeError for an invalid header name
 */
export function formatTextHeader(name: string, value: string): string {
  if (!HEADER_NAME.test(name)) throw new RangeError('not a header name');
  const clean = toSingleLine(value);
  // Encoding or folding inside a message id would change the id.
  if (ID_FIELD_PATTERN.test(name)) return foldAscii(name, clean);
  if (isAscii(clean) && !clean.includes('=?')) return foldAscii(name, clean);
  return `${name}: ${encodeWords(clean, name.length + 2).join(FOLD)}\r\n`;
}

/** Returns `name <address>` as a header's value, with the name quoted or encoded if necessary. */
export function formatMailbox({ name, email }: HeaderMailbox): string {
  const address = formatAddress(email);
  const displayName = toSingleLine(name ?? '');
  if (displayName === '') return address;
  if (!isAscii(displayName) || displayName.includes('=?'))
    return `${encodeWords(displayName, 12).join(FOLD)} <${address}>`;
  const phrase = ATOM_PHRASE.test(displayName) ? displayName : `"${displayName.replace(/["\\]/g, '\\$&')}"`;
  return `${phrase} <${address}>`;
}

/**
 * Returns a header line with a mailbox, with CRLF at its end. A long line is folded before the address. The string has
 * one character per byte, like the whole message. A non-ASCII local part cannot be encoded, so it is written as UTF-8
 * (RFC 6532 §3.2).
 */
export function formatMailboxHeader(name: string, mailbox: HeaderMailbox): string {
  const formatted = formatMailbox(mailbox);
  const value = isAscii(formatted) ? formatted : Buffer.from(formatted, 'utf8').toString('latin1');
  const line = `${name}: ${value}`;
  if (line.length <= LINE_CHARS || value.includes('\r\n')) return `${line}\r\n`;
  return `${name}: ${value.replace(/ <(?=[^<]*$)/, '\r\n <')}\r\n`;
}

/** Returns a header with several mailboxes, each on its own line, with CRLF at its end. */
export function formatMailboxesHeader(name: string, mailboxes: readonly HeaderMailbox[]): string {
  const lines = mailboxes.map((mailbox) => formatMailboxHeader('', mailbox).slice(2, -2));
  return `${name}: ${lines.join(`,${FOLD}`)}\r\n`;
}

/**
 * Converts text to one line: each run of line breaks, tabs and control characters becomes a single space. Removes white
 * space at both ends.
 */
export function toSingleLine(value: string): string {
  return /[\p{Cc}\u2028\u2029]/u.test(value) ? value.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim() : value.trim();
}

/**
 * Converts a header's text to one line that can be folded at spaces. If a word is too long for this, the text is
 * encoded.
 */
export function toFoldableText(value: string): string {
  const line = toSingleLine(value);
  const isLong = line.split(' ').some((word) => word.length > FOLDABLE_WORD_CHARS);
  return isLong ? encodeWords(line, 0).join(' ') : line;
}

/**
 * Returns an address for use between `<` and `>`: without characters that could end it early, and with its domain in
 * ASCII.
 */
export function formatAddress(email: string): string {
  if (/^[!-;=?-~]+$/.test(email)) return email;
  const clean = email.replace(/[\s\p{Cc}<>]/gu, '');
  if (isAscii(clean)) return clean;
  const at = clean.lastIndexOf('@');
  return `${clean.slice(0, at)}@${domainToASCII(clean.slice(at + 1))}`;
}

let lastDate = { second: Number.NaN, text: '' };

/**
 * Returns the date in the form of RFC 5322 §3.3, in UTC. The text is cached for a second, because thousands of emails
 * per second may need it.
 */
export function formatMailDate(date: Date): string {
  const second = Math.floor(date.getTime() / 1000);
  if (second !== lastDate.second) lastDate = { second, text: date.toUTCString().replace('GMT', '+0000') };
  return lastDate.text;
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7e) return false;
  return true;
}

/** Folds a line at single spaces. If a word exceeds the limit of a line, the text is encoded instead. */
function foldAscii(name: string, value: string): string {
  if (name.length + 2 + value.length <= LINE_CHARS) return `${name}: ${value}\r\n`;
  let line = `${name}:`;
  let out = '';
  for (const word of value.split(/(?<=\S) (?=\S)/)) {
    if (word.length > LINE_MAX_CHARS - 80) return `${name}: ${encodeWords(value, name.length + 2).join(FOLD)}\r\n`;
    if (line.length + 1 + word.length > LINE_CHARS && line !== `${name}:`) {
      out += `${line}\r\n`;
      line = '';
    }
    line += ` ${word}`;
  }
  return `${out}${line}\r\n`;
}

/**
 * Encodes text as encoded words (RFC 2047). No character is split over two words. The first word is shorter, to leave
 * space for `before` characters on its line.
 */
function encodeWords(text: string, before: number): string[] {
  const words: string[] = [];
  let bytes: Buffer[] = [];
  let length = 0;
  let bytesLeft = Math.max(3, Math.min(WORD_BYTES, Math.floor((LINE_CHARS - before - 12) / 4) * 3));
  for (const char of text) {
    const encoded = Buffer.from(char, 'utf8');
    if (length + encoded.length > bytesLeft) {
      words.push(Buffer.concat(bytes).toString('base64'));
      bytes = [];
      length = 0;
      bytesLeft = WORD_BYTES;
    }
    bytes.push(encoded);
    length += encoded.length;
  }
  words.push(Buffer.concat(bytes).toString('base64'));
  return words.map((word) => `=?utf-8?B?${word}?=`);
}
