import { isAscii } from 'node:buffer';
import { addressParser, decodeWords } from 'postal-mime';
import { isProviderHeader } from '../emails/service-headers.ts';
import { AppError } from '../errors.ts';
import { parseUnquotedAuthor } from './author.ts';
import { withCrlf } from './crlf.ts';
import { decodeStrictly, withUtf8Header } from './header-charset.ts';
import { formatMailbox, formatMailDate, formatTextHeader } from './mime-headers.ts';
import {
  findMimeParts,
  findOnlyHtmlPart,
  findRawFields,
  isProtectedPart,
  type MimePart,
  type RawField,
  readFieldValue,
  readUnfoldedValue,
  withTransferEncoding,
} from './mime-parts.ts';
import { decodeQuotedPrintable, QuotedPrintableWriter } from './quoted-printable.ts';
import { hasUnsendableLine, LINE_MAX_OCTETS } from './sendable-lines.ts';
import { replaceC1Controls } from './windows-1252.ts';

/** A message that an application composed, prepared for storage and sending. */
export interface OriginalMessage {
  /** The whole message. Message-ID and Date may be missing. All lines end with CRLF and have at most 998 octets. */
  message: Buffer;
  /** The Message-ID that the application wrote, with angle brackets. Null if the message has no valid Message-ID. */
  messageId: string | null;
  /**
   * The HTML that may be tracked: the text of the text/html part that no signature covers. Undefined if there is not
   * exactly one such part.
   */
  html: string | undefined;
}

/**
 * The host name of this server and the id of the message, for the field `Received`; and the author for a message
 * without From.
 */
export interface PrepareOptions {
  host: string;
  id: string;
  from: string;
  now: Date;
}

const FOLD_AFTER_CHARS = 60;
/** The maximum number of `Received` fields. A message that passed more servers is in a mail loop (RFC 5321 §6.3). */
const RECEIVED_MAX = 100;
/** RFC 5322 §3.6.4, with the domain literals of §3.4.1 and the quoted strings of §4.5.4. */
const MESSAGE_ID =
  /^<(?:[^\s<>@"\u0080-\uffff]+|"(?:[^"\\\s\u0080-\uffff]|\\?[ -~])*")@(?:[^\s<>@[\]\u0080-\uffff]+|\[[^\s<>[\]\u0080-\uffff]*\])>$/;
/** Matches a comment next to an identifier (RFC 5322 §3.2.2), without nested comments. */
const COMMENT = /^\s*\([^()<>]*\)|\([^()<>]*\)\s*$/g;
/** Matches encodings that can be decoded (RFC 2045 §6.1). */
const ENCODINGS = /^(7bit|8bit|binary|base64|quoted-printable)$/;
const ADDRESSES = /^(from|to|cc|reply-to)$/;
/** Matches a date by RFC 5322 §3.3, with the time zones of §4.3, and without comments. */
const DATE =
  /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\s*,?\s*)?(\d{1,2})\s+(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+(\d{2,4})\s+(\d{1,2}:\d{2}(?::\d{2})?)\s*([+-]\d{4}|[A-Z]{1,5})$/i;

/**
 * Tells whether a field is removed from the message. These fields are blind copies, fields that the last server writes
 * (Return-Path), results of checks by other servers, and fields that control a provider. Sender is removed too, because
 * the service sets it.
 */
function isDropped(name: string): boolean {
  if (/^((resent-)?bcc|return-path|sender|authentication-results|arc-.*|delivered-to)$/.test(name)) return true;
  return isProviderHeader(name);
}

/**
 * Prepares a message for sending. Some header fields are removed or encoded. Every line break becomes CRLF, and parts
 * with lines that no server would accept are re-encoded. Bodies do not change in any other way. Adds one field
 * `Received` (RFC 5321 §4.4).
 * @throws AppError BAD_REQUEST for a NUL octet, a line of more than 998 octets or a lone CR or LF in a part that must
 * not be changed, for a repeated header field, for more than one author, or for a message in a mail loop
 */
export function prepareOriginal(received: Buffer, p: PrepareOptions): OriginalMessage {
  const raw = withUtf8Header(received);
  const message = withCrlf(raw);
  const root = findMimeParts(message);
  const all = findRawFields(message, 0, root.bodyStart);
  const fields = all.filter((field) => !isUnreadable(message, field));
  refuseWrongHeader(message, all);
  refuseChangedNewlines(raw, message, root);
  const edits = encodeLongLines(message, root);
  const html = findOnlyHtmlPart(root);
  const messageIdField = readFieldValue(message, fields, 'message-id').replace(COMMENT, '').trim();
  const messageId = MESSAGE_ID.test(messageIdField) ? messageIdField : null;
  const header = [
    `Received: by ${p.host} (Tidings) with ESMTPA id ${p.id};\r\n ${formatMailDate(p.now)}\r\n`,
    ...createMissingFields(fields, p.from),
    ...fields
      .filter(({ name }) => !isDropped(name))
      .filter(({ name }) => name !== 'message-id' || messageId !== null)
      // The application's DKIM signature becomes invalid if a line of the body is re-encoded.
      .filter(({ name }) => name !== 'dkim-signature' || edits.length === 0)
      .map((field) => encodeField(message, field)),
  ].join('');
  const rootEdit = edits.find(({ part }) => part === root);
  const head = rootEdit ? withTransferEncoding(header, rootEdit.encoding) : header;
  const body = applyEdits(message, root.bodyStart, edits);
  const prepared = Buffer.concat([Buffer.from(`${head}\r\n`, 'latin1'), body]);
  refuseUnsendableLines(prepared);
  return {
    message: prepared,
    messageId,
    html: html && decodeTextPart(message, html),
  };
}

/**
 * Tells whether a field must be dropped because receivers would reject it: a date that cannot be read, or a list
 * without addresses. If Date, From or To is dropped, the service writes the field itself.
 */
function isUnreadable(message: Buffer, field: RawField): boolean {
  const value = readFieldValue(message, [field], field.name);
  if (field.name === 'date') return !isMailDate(value.replace(/\([^()]*\)/g, ' ').trim());
  if (field.name === 'from')
    return !addressParser(value, { flatten: true }).some(({ address }) => address?.includes('@'));
  return ADDRESSES.test(field.name) && value.trim() === '';
}

function isMailDate(text: string): boolean {
  const [, day = '', month = '', year = '', time = ''] = DATE.exec(text) ?? [];
  const at = new Date(`${day} ${month} ${year} ${time} UTC`);
  return at.getUTCDate() === Number(day);
}

function refuseWrongHeader(message: Buffer, fields: readonly RawField[]): void {
  const countFields = (name: string) => fields.filter((field) => field.name === name).length;
  if (countFields('received') > RECEIVED_MAX) throw createRefusal('The message has passed too many servers');
  for (const name of ['from', 'subject', 'content-type', 'content-transfer-encoding', 'message-id', 'date'])
    if (countFields(name) > 1)
      throw createRefusal(`The message has more than one ${name} field (RFC 5322 section 3.6)`);
  const from = fields.find(({ name }) => name === 'from');
  const value = from ? readTextValue(message, from) : '';
  if (addressParser(value, { flatten: true }).length > 1 && parseUnquotedAuthor(value) === undefined)
    throw createRefusal('From names more than one address');
}

/**
 * Refuses line ends that are not CRLF in a part that must not be changed (RFC 5321 §2.3.8). A part is allowed if all
 * its lines end with LF, because signatures are computed over the form with CRLF (RFC 1847 §2.1).
 */
function refuseChangedNewlines(raw: Buffer, message: Buffer, root: MimePart): void {
  if (raw === message) return;
  for (const part of listProtectedParts(root)) {
    const body = message.subarray(part.start, part.end);
    if (raw.includes(body) || raw.includes(Buffer.from(body.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')))
      continue;
    throw createRefusal(
      `The part of type ${part.type} has a lone CR or LF: end each line with CRLF, since the part must not be changed`,
    );
  }
}

function listProtectedParts(part: MimePart): MimePart[] {
  return isProtectedPart(part) ? [part] : part.parts.flatMap(listProtectedParts);
}

/**
 * Refuses lines that no server accepts, if they are outside the bodies of parts. Lines outside the bodies cannot be
 * re-encoded.
 */
function refuseUnsendableLines(message: Buffer): void {
  if (hasUnsendableLine(message))
    throw createRefusal(
      `A header, or the text before, between or after the parts, has a NUL octet or a line of more than ${LINE_MAX_OCTETS} octets that cannot be folded`,
    );
}

function createRefusal(message: string): AppError {
  return new AppError('BAD_REQUEST', { message });
}

/** Returns the required fields (RFC 5322 §3.6) that the message lacks. The author is the sender of the envelope. */
function createMissingFields(fields: readonly RawField[], from: string): string[] {
  const hasHeaderField = (name: string) => fields.some((field) => field.name === name);
  return [
    ...(hasHeaderField('from') || from === '' ? [] : [`From: ${from}\r\n`]),
    ...(hasHeaderField('to') || hasHeaderField('cc') ? [] : ['To: undisclosed-recipients:;\r\n']),
  ];
}

/**
 * Returns a header field in the form in which it is sent. A field in ASCII is usually sent as its author wrote it. A
 * field with raw UTF-8 is encoded, because servers need not accept raw UTF-8 (RFC 6531). Encoded words in such a field
 * are decoded first, because email clients would not decode an encoded word inside another one.
 */
function encodeField(message: Buffer, field: RawField): string {
  const raw = message.toString('latin1', field.start, field.end);
  const author = field.name === 'from' ? parseUnquotedAuthor(readTextValue(message, field)) : undefined;
  if (author !== undefined) return `From: ${formatMailbox(author)}\r\n`;
  if (isAscii(message.subarray(field.start, field.end))) return raw.replace(/[^\r\n]{999,}/g, foldLine);
  const name = raw.slice(0, raw.indexOf(':')).trim();
  const value = readTextValue(message, field);
  if (!ADDRESSES.test(field.name)) return formatTextHeader(name, replaceC1Controls(decodeWords(value)));
  const mailboxes = addressParser(value, { flatten: true }).map(({ name: shown, address }) =>
    formatMailbox({ name: shown, email: address ?? '' }),
  );
  return `${name}: ${mailboxes.join(',\r\n ')}\r\n`;
}

function readTextValue(message: Buffer, { start, end }: RawField): string {
  return readUnfoldedValue(message.toString('utf8', start, end));
}

/**
 * Folds a line that is too long, at spaces; receivers join the lines again (RFC 5322 §2.2.3). Reads the line word by
 * word, because a regular expression could read each of a hundred thousand characters many times.
 */
function foldLine(line: string): string {
  let folded = '';
  let length = 0;
  for (const word of line.split(/(?<=\S)(?=[ \t]\S)/)) {
    const isFull = length > FOLD_AFTER_CHARS;
    folded += isFull ? `\r\n ${word.slice(1)}` : word;
    length = isFull ? word.length - 1 : length + word.length;
  }
  return folded;
}

interface Edit {
  part: MimePart;
  encoding: 'quoted-printable' | 'base64';
  body: Buffer;
}

/**
 * Re-encodes the bodies of parts with a NUL octet or a line that is too long.
 * @throws AppError BAD_REQUEST if a part must not be changed, or has an unknown structure or encoding
 */
function encodeLongLines(message: Buffer, part: MimePart): Edit[] {
  if (!hasUnsendableLine(message.subarray(part.bodyStart, part.end))) return [];
  if (part.parts.length > 0 && !isProtectedPart(part))
    return part.parts.flatMap((child) => encodeLongLines(message, child));
  // A multipart must not be encoded (RFC 2045 §6.4), even if its boundary cannot be read.
  if (isProtectedPart(part) || part.type.startsWith('multipart/') || !ENCODINGS.test(part.encoding))
    throw createRefusal(
      `The part of type ${part.type} has a NUL octet or a line of more than ${LINE_MAX_OCTETS} octets: encode it in quoted-printable or base64`,
    );
  const bytes = decodeBody(message, part);
  const encoding = part.type.startsWith('text/') ? 'quoted-printable' : 'base64';
  const lines =
    encoding === 'base64'
      ? bytes.toString('base64').replace(/.{76}(?=.)/g, '$&\r\n')
      : new QuotedPrintableWriter().writeBytes(bytes).take();
  return [{ part, encoding, body: Buffer.from(lines, 'latin1') }];
}

/** Returns the body with the edited parts. The text between the edited parts is not changed. */
function applyEdits(message: Buffer, start: number, edits: readonly Edit[]): Buffer {
  const pieces: Buffer[] = [];
  let at = start;
  for (const { part, encoding, body } of edits) {
    if (part.bodyStart > start) {
      pieces.push(message.subarray(at, part.start));
      const header = message.toString('latin1', part.start, part.bodyStart - 2);
      pieces.push(Buffer.from(`${withTransferEncoding(header, encoding)}\r\n`, 'latin1'));
    }
    pieces.push(body);
    at = part.end;
  }
  return Buffer.concat([...pieces, message.subarray(at)]);
}

function decodeBody(message: Buffer, { bodyStart, end, encoding }: MimePart): Buffer {
  const body = message.subarray(bodyStart, end);
  if (encoding === 'base64') return Buffer.from(body.toString('latin1'), 'base64');
  return encoding === 'quoted-printable' ? decodeQuotedPrintable(body.toString('latin1')) : body;
}

/**
 * Returns the text of a part for tracking. Undefined if its encoding or charset is unknown, or if its bytes are not
 * valid in its charset. Tracking would then replace characters that the recipient's email client might show correctly.
 */
function decodeTextPart(message: Buffer, part: MimePart): string | undefined {
  if (!ENCODINGS.test(part.encoding)) return undefined;
  return decodeStrictly(decodeBody(message, part), part.params.get('charset') || 'utf-8');
}
