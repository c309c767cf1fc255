import type { Attachment, Email } from 'postal-mime';
import { htmlToText } from '../../rules/content/content-text.ts';
import type { Feedback } from '../../rules/emails/email-feedback.ts';
import { ABOUT_ANOTHER_ADDRESS, classifyRefusal, parseDiagnostic } from '../../rules/emails/refusal.ts';
import { classifyCode, classifyText } from '../../rules/emails/refusal-table.ts';
import { decodeRawText } from '../../rules/mime/header-charset.ts';
import { parseMime } from '../mime-parser.ts';
import { hasAutomaticMark, hasProgramSubject, isMailSystem } from './automatic-email.ts';
import { findRecipientStatus, getAction } from './delivery-status.ts';
import { getFirstWord } from './field-values.ts';
import { containsAddress, containsOtherAddress, createAddressPattern } from './named-addresses.ts';

/** A parsed email from a person or a program. */
export interface InboundEmail {
  messageId: string;
  /** The message id of the email to which this email replies, with angle brackets. Null if it is not a reply. */
  inReplyTo: string | null;
  /** The message ids of the earlier emails of the thread, oldest first, with angle brackets. */
  references: string[];
  attachments: InboundAttachment[];
  /** The address in From, in lower case. Null if From has no address. */
  from: string | null;
  /** The unchanged value of the header From. */
  fromHeader: string;
  fromName: string | null;
  subject: string;
  text: string | null;
  html: string | null;
  /**
   * True if the email's headers show that a program wrote it. If this is false, the caller also checks the envelope
   * sender, which is not part of this object.
   */
  hasAutomaticMark: boolean;
}

/** An attached file. */
export interface InboundAttachment {
  filename: string | null;
  contentType: string;
  /** The decoded file. */
  content: Buffer;
  /** The id with which the HTML refers to the file (`cid:`), without angle brackets. */
  contentId: string | null;
}

/** A received message, by its kind: a report about an email that we sent, or an ordinary email. */
export type ReadMessage =
  /**
   * A delivery report or a bounce. `of` returns what the report says about the recipient of an email. The address is
   * null if it is no longer stored.
   */
  | { kind: 'status'; of(address: string | null): StatusReport }
  /**
   * `returnPaths` are the complaint's field Original-Mail-From and, if the complaint contains a copy of the reported
   * email, the Return-Path of this copy. `links` are only from the copy.
   */
  | { kind: 'complaint'; feedback: Feedback; returnPaths: string[]; links: string[] }
  /**
   * A message that changes no record, such as a read receipt, an automatic reply, or a message that a person sent to a
   * return path.
   */
  | { kind: 'nothing'; why: string }
  | { kind: 'mail'; mail: InboundEmail };

/** The content of a report. `nothing` changes no record, for example a report of a delay or of a forwarded email. */
export type StatusReport = { kind: 'report'; feedback: Feedback } | { kind: 'nothing'; why: string };

/**
 * At first, only this many bytes of a message are parsed, because the parser takes 300 ms per megabyte of short lines.
 * A report is at the beginning of its message, so these bytes are enough for reports. Ordinary email is then parsed
 * completely, to list its attachments.
 */
const PARSED_MAX_BYTES = 512 * 1024;
/** The maximum number of parts. The parser takes 4 seconds per megabyte of empty parts. */
const PARTS_MAX = 500;
/**
 * Only this many characters of a part are read. Reports are short, and on a long hostile report the regular expressions
 * could run for minutes.
 */
const PART_MAX_CHARS = 128 * 1024;
const LINKS_MAX_CHARS = 4 * 1024;
/** Limits for the data of an event, because the whole event is stored and sent to webhooks. */
const ATTACHMENTS_MAX = 100;
const NAME_MAX_CHARS = 255;
const REFERENCES_MAX = 100;
/**
 * Matches a message id. An id cannot be split over two lines, and a line has at most 998 characters (RFC 5322 §2.1.1).
 */
const MESSAGE_ID = /<[^<>\s]{1,996}>/g;
/**
 * Only this many characters of a bounce's text are read. The reason of the refusal comes before the copy of the email.
 */
const RETURNED_MAX_CHARS = 20_000;
/**
 * Matches a line with a refusal: a reply with an enhanced code, qmail's `(#5.1.1)`, or a code such as `550` (550 to
 * 559) at the start of the line, after a colon or after `<<<`.
 */
const REFUSAL_LINE = /\b5\d\d[ -]#?5\.\d{1,3}\.\d{1,3}\b|#5\.\d{1,3}\.\d{1,3}\b|(?:^\s*|: |<<< )55\d(?:[ :-]{1,2}\S|$)/;
/** Matches the last temporary reply, such as `(#4.4.7)`, with which qmail reports that it has given up. */
const LAST_REPLY_LINE = /#4\.\d{1,3}\.\d{1,3}\b/;
const REPLY_CODE = /\b5\d\d(?:[ :-]|$)/;
/** The maximum number of lines of a reply, or of the reason below an address. */
const REASON_MAX_LINES = 5;
/** Matches a line of an SMTP session, which some bounces show. */
const TRANSCRIPT = /-->|<--|>>>|<<</;
/** Matches the line above the copy of the email in a bounce. */
const COPY_BELOW = /^--[^\n]*\b(copy|original message|message headers?)\b/im;
const QUOTED_HEADER = /^[>\s]*(?!(?:recipient|reason|error|failed)\b)[\w-]+(?: to)?:[^:]*@/i;
/** Matches a line of a bounce which says that the delivery is only delayed. */
const DELAY =
  /\bdelay|\bwarning\b|not (?:yet )?been (?:delivered|possible) yet|\bnot yet been\b|\b(?:will|still) (?:be )?(?:(?:re)?tr[iy]|continu|keep)|temporar|no action is required/i;
/** Like `DELAY`, in languages other than English. */
const FOREIGN_DELAY =
  /verz(?:ö|oe)ger|(?:noch|bisher) nicht zugestellt|weitere? versuch|\bretard|\bpas encore|\bretras|todav[ií]a no|\breintent|\britard|non (?:è )?(?:stato )?ancora|\batrasad|ainda n[aã]o|vertraagd|\bnog niet|opóźni|задерж|ещ[её] не достав|延迟|延遲|遅延|지연/i;
/** The MIME types of the copy of an email in a report. RFC 6533 defines the `global` types. */
const QUOTED_TYPES = ['message/rfc822', 'text/rfc822-headers', 'message/global', 'message/global-headers'] as const;
/**
 * The actions of a report that change no record (RFC 3464 §2.3.3). The log shows only these known actions and no other
 * text of the report, because an untrusted sender wrote the report.
 */
const ACTIONS: ReadonlySet<string> = new Set(['delayed', 'relayed', 'expanded']);

/** Facts about how a message reached this service. */
interface MessageOrigin {
  at: Date;
  /** The envelope sender; empty for the null sender. */
  sender: string;
  /** Whether the message was sent to a return path, which is the address for bounces of one email. */
  isReturned: boolean;
}

/**
 * Reads a received message: a delivery status notification (RFC 3464), an abuse report (RFC 5965), a read receipt (RFC
 * 8098), or an ordinary email. Checks for reports before automatic replies, because many reports have the headers of
 * automatic replies.
 * @throws Error for a message with more than `PARTS_MAX` parts at its beginning, or that cannot be parsed
 */
export async function readMessage(raw: Buffer, p: MessageOrigin): Promise<ReadMessage> {
  const start = raw.subarray(0, PARSED_MAX_BYTES);
  if (countBoundaries(start) > PARTS_MAX) throw new Error(`more than ${PARTS_MAX} parts`);
  const email = await parseMime(start);
  const parseWholeEmail = async () => toInboundEmail(raw.length > start.length ? await parseWhole(raw, email) : email);
  // An ordinary email may contain a report as an attachment, for example because a person forwards the report. Such an
  // email is still an ordinary email.
  if (!p.isReturned && !isMailSystem(p.sender) && !isReport(email))
    return { kind: 'mail', mail: await parseWholeEmail() };
  const status =
    findPartText(email, 'message/delivery-status') ?? findPartText(email, 'message/global-delivery-status');
  if (status !== undefined)
    return readDeliveryStatus(status, { at: p.at, body: isFromMailSystem(email, p.sender) ? getBodyText(email) : '' });
  const abuse = findPartText(email, 'message/feedback-report');
  if (abuse !== undefined) return readAbuseReport(abuse, readQuotedHeaders(email), p.at);
  if (isReadReceipt(email)) return { kind: 'nothing', why: 'a read receipt' };
  if (p.isReturned) return readReturned(email, p);
  return { kind: 'mail', mail: await parseWholeEmail() };
}

/**
 * Parses a long email completely, in the parser's thread. If more than `PARTS_MAX` lines look like separators of parts,
 * as in a long SQL text, returns the parsed beginning instead. The parser would take minutes for that many parts.
 */
async function parseWhole(raw: Buffer, beginning: Email): Promise<Email> {
  return countBoundaries(raw) > PARTS_MAX ? beginning : parseMime(raw);
}

/**
 * Reads a delivery status notification. Such a notification consists of blocks of fields: the first block is about the
 * message, and each further block is about one recipient. Our emails have one recipient, but a relay may report about
 * several recipients.
 */
function readDeliveryStatus(text: string, p: { at: Date; body: string }): ReadMessage {
  const blocks = text
    .replace(/\r\n/g, '\n')
    .trim()
    .split(/\n\s*\n/)
    .map(parseFields);
  return {
    kind: 'status',
    of: (address) => readRecipientStatus(findRecipientStatus(blocks, address), { ...p, address }),
  };
}

/**
 * Reads the result for one recipient. `body` is the report's text for people. The text is needed because OpenSMTPD
 * writes the reason only into this text, and the unspecific status 5.0.0 into the fields.
 */
function readRecipientStatus(
  found: ReturnType<typeof findRecipientStatus>,
  { at, body, address }: { at: Date; body: string; address: string | null },
): StatusReport {
  const { fields: recipient, isAboutAnother } = found;
  const action = getAction(recipient);
  if (action === 'delivered') return { kind: 'report', feedback: { kind: 'delivery', at } };
  if (action !== 'failed')
    return {
      kind: 'nothing',
      why: `a delivery status with ${ACTIONS.has(action) ? `the action ${action}` : 'an unknown action'}`,
    };
  const status = getFirstWord(recipient.get('status') ?? '') || null;
  const isUnclear = classifyCode(status, undefined) === undefined;
  const reason =
    recipient.get('diagnostic-code') ||
    (isUnclear && findRefusal(body.split(/\r?\n/), createRecipientPattern(address))) ||
    '';
  return createBounceReport(reason, { status, at, isAboutAnother });
}

function readAbuseReport(text: string, quoted: Map<string, string>, at: Date): ReadMessage {
  const fields = parseFields(text);
  const type = getFirstWord(fields.get('feedback-type') ?? '');
  if (type === 'not-spam' || type === 'auth-failure') return { kind: 'nothing', why: `a report of the type ${type}` };
  const returnPaths = [fields.get('original-mail-from'), quoted.get('return-path')].flatMap((path) => {
    return path ? [path.replace(/[<>\s]/g, '')] : [];
  });
  const links = [
    ...(quoted.get('list-unsubscribe') ?? '').slice(0, LINKS_MAX_CHARS).matchAll(/<(https?:[^>\s]+)>/g),
  ].flatMap((match) => match[1] ?? []);
  return { kind: 'complaint', feedback: { kind: 'complaint', at }, returnPaths, links };
}

/**
 * Reads a bounce without a machine-readable report, from a server that does not support RFC 3464. The return path shows
 * which email the bounce is about. The bounce counts only if a mail system sent it, because a person or an
 * auto-responder may quote the same text.
 */
function readReturned(email: Email, p: { at: Date; sender: string }): ReadMessage {
  const failed = email.headers.filter(({ key }) => key === 'x-failed-recipients').map(({ value }) => value);
  const isAuthorSystem = isMailSystem(email.from?.address || 'unknown');
  // Bounces of Exim are also marked as automatic replies, but they are from MAILER-DAEMON or have X-Failed-Recipients.
  if (isAutomatic(email) && !isAuthorSystem && failed.length === 0)
    return { kind: 'nothing', why: 'an automatic reply' };
  if (!isFromMailSystem(email, p.sender)) return { kind: 'nothing', why: 'a message of a person to a return path' };
  const lines = getBodyText(email).split(/\r?\n/);
  const isDelay = failed.length === 0 && [email.subject ?? '', ...lines].some(isDelayLine);
  const isTextTrusted = !isDelay && (isAuthorSystem || failed.length > 0 || isPostmaster(email));
  const bounce = { lines, failed: failed.join(' '), at: p.at, isDelay, isTextTrusted };
  return { kind: 'status', of: (address) => readReturnedStatus(bounce, address) };
}

function isDelayLine(line: string): boolean {
  return DELAY.test(line) || FOREIGN_DELAY.test(line);
}

interface BounceText {
  lines: string[];
  /** The addresses in X-Failed-Recipients. Exim adds this header when it has given up the delivery. */
  failed: string;
  at: Date;
  /** True if the report only warns of a delay, and the server still attempts the delivery. */
  isDelay: boolean;
  /**
   * True if a reason in the text counts even without a reply code, because a mail system wrote the text. Other senders,
   * such as auto-responders, may also write `ann@example.org is no longer with us`. Their text counts only if it
   * contains a reply code.
   */
  isTextTrusted: boolean;
}

function readReturnedStatus({ lines, failed, at, ...flags }: BounceText, address: string | null): StatusReport {
  const recipientPattern = createRecipientPattern(address);
  const isGivenUp = failed !== '';
  const isAboutAnother = recipientPattern !== null && isGivenUp && !recipientPattern.test(failed);
  const reason = isAboutAnother
    ? undefined
    : (findRefusal(lines, recipientPattern) ??
      (flags.isDelay ? undefined : findRefusal(lines, recipientPattern, LAST_REPLY_LINE)) ??
      (flags.isTextTrusted ? findReason(lines, recipientPattern) : undefined));
  if (reason !== undefined) return createBounceReport(reason, { status: null, at, isAboutAnother: false });
  const otherReason = findRefusal(lines, null);
  if (otherReason === undefined && !isGivenUp) return { kind: 'nothing', why: 'a returned message without a status' };
  return createBounceReport(otherReason ?? '', { status: null, at, isAboutAnother: true });
}

function createRecipientPattern(address: string | null): RegExp | null {
  return address === null ? null : createAddressPattern(address);
}

/**
 * Finds a server's reply in a text. The reply must be about our recipient, or name no address. In a bounce about
 * several recipients, the address is on the same line as the reply or at most three lines above.
 */
function findRefusal(lines: string[], recipientPattern: RegExp | null, pattern = REFUSAL_LINE): string | undefined {
  const found = lines.findIndex((line, at) => {
    if (!pattern.test(line)) return false;
    const addressLine = findLineWithAddress(lines, at);
    return recipientPattern === null || addressLine === undefined || recipientPattern.test(addressLine);
  });
  return found < 0 ? undefined : readReplyAt(lines, found);
}

/**
 * Finds the reason after our recipient's address in a bounce without reply codes, such as Exim's `Unrouteable address`
 * or Domino's `not listed in Domino Directory`. The reason is on the same line as the address or on the four lines
 * below. Undefined if the text contains no known reason.
 */
function findReason(lines: string[], recipientPattern: RegExp | null): string | undefined {
  if (recipientPattern === null) return undefined;
  for (const [at, line] of lines.entries()) {
    if (QUOTED_HEADER.test(line) || !recipientPattern.test(line)) continue;
    const below = lines.slice(at, at + REASON_MAX_LINES);
    const otherAddressAt = below.findIndex((text, n) => n > 0 && containsOtherAddress(text, recipientPattern));
    const reason = below
      .slice(0, otherAddressAt < 0 ? undefined : otherAddressAt)
      .join(' ')
      .replace(/\s+/g, ' ')
      .trim();
    if (classifyText(reason, null) !== undefined) return reason;
  }
  return undefined;
}

/** Returns the nearest line that contains an address: the line itself, or one of the three lines above. */
function findLineWithAddress(lines: string[], at: number): string | undefined {
  return lines
    .slice(Math.max(0, at - 3), at + 1)
    .reverse()
    .find(containsAddress);
}

/** Returns a server's reply: the line (without the text before the reply code) and the indented lines that follow. */
function readReplyAt(lines: string[], at: number): string {
  const line = lines[at] ?? '';
  const start = line.search(REPLY_CODE);
  const after = lines.slice(at + 1, at + REASON_MAX_LINES);
  const end = after.findIndex((text) => !/^\s+\S/.test(text) || TRANSCRIPT.test(text));
  return [start < 0 ? line : line.slice(start), ...after.slice(0, end < 0 ? undefined : end)]
    .map((text) => text.trim())
    .join(' ');
}

function isFromMailSystem(email: Email, sender: string): boolean {
  return isMailSystem(sender) || isMailSystem(email.from?.address || 'unknown');
}

function isAutomatic(email: Email): boolean {
  return hasAutomaticMark(email.headers) || hasProgramSubject(email.subject ?? '');
}

function isPostmaster(email: Email): boolean {
  return email.from?.address?.toLowerCase().startsWith('postmaster@') ?? false;
}

/** Returns the message's text for people, without the copy of the email below the text. */
function getBodyText(email: Email): string {
  const html = email.html?.slice(0, RETURNED_MAX_CHARS) ?? '';
  const text = (email.text?.trim() ? email.text : htmlToText(html)).slice(0, RETURNED_MAX_CHARS);
  return text.slice(0, COPY_BELOW.exec(text)?.index);
}

function createBounceReport(
  reason: string,
  p: { status: string | null; at: Date; isAboutAnother: boolean },
): StatusReport {
  const { status, at } = p;
  const diagnostic = parseDiagnostic(reason);
  const refusal = p.isAboutAnother
    ? ABOUT_ANOTHER_ADDRESS
    : classifyRefusal({ ...diagnostic, enhanced: diagnostic.enhanced ?? status, stage: 'dsn' });
  return { kind: 'report', feedback: { kind: 'bounce', at, refusal, words: reason || (status ?? '') } };
}

function toInboundEmail(email: Email): InboundEmail {
  const fromHeader = email.headers.find(({ key }) => key === 'from')?.value ?? '';
  return {
    messageId: email.messageId ?? '',
    inReplyTo: listMessageIds(email, 'in-reply-to')[0] ?? null,
    references: listMessageIds(email, 'references').slice(-REFERENCES_MAX),
    attachments: email.attachments.slice(0, ATTACHMENTS_MAX).map(toInboundAttachment),
    from: email.from?.address?.trim().toLowerCase() || null,
    fromHeader,
    fromName: email.from?.name || null,
    subject: email.subject ?? '',
    text: email.text ?? null,
    html: email.html ?? null,
    hasAutomaticMark: isAutomatic(email) || isReport(email) || hasNullReturnPath(email),
  };
}

/** Lists the message ids of a header field. */
function listMessageIds(email: Email, name: string): string[] {
  const value = email.headers.find(({ key }) => key === name)?.value ?? '';
  return value.match(MESSAGE_ID) ?? [];
}

function toInboundAttachment({ filename, mimeType, contentId, content }: Attachment): InboundAttachment {
  return {
    filename: filename?.slice(0, NAME_MAX_CHARS) || null,
    contentType: mimeType.toLowerCase().slice(0, NAME_MAX_CHARS),
    content: typeof content === 'string' ? Buffer.from(content) : Buffer.from(content as ArrayBuffer),
    contentId: contentId?.replace(/^<|>$/g, '').slice(0, NAME_MAX_CHARS) || null,
  };
}

/**
 * Tells whether the email was sent with the null sender. A server that forwards an email replaces the envelope sender,
 * and records the original sender in Return-Path.
 */
function hasNullReturnPath(email: Email): boolean {
  return email.headers.some(({ key, value }) => key === 'return-path' && value.trim() === '<>');
}

/** Tells whether the whole email is a read receipt (RFC 8098). Returns false for an email with an attached receipt. */
function isReadReceipt(email: Email): boolean {
  return isReport(email) && /disposition-notification/i.test(getContentType(email));
}

function isReport(email: Email): boolean {
  return /^\s*multipart\/report\b/i.test(getContentType(email));
}

function getContentType(email: Email): string {
  return email.headers.find(({ key }) => key === 'content-type')?.value ?? '';
}

/**
 * Returns the fields of a header (RFC 5322), with names in lower case. Joins a value that is split over several lines.
 * If a field occurs more than once, returns its first value.
 */
function parseFields(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of text
    .replace(/\r\n/g, '\n')
    .replace(/\n[ \t]+/g, ' ')
    .split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const name = line.slice(0, colon).trim().toLowerCase();
    if (!fields.has(name)) fields.set(name, line.slice(colon + 1).trim());
  }
  return fields;
}

/** Returns the headers of the email whose copy a report contains. */
function readQuotedHeaders(email: Email): Map<string, string> {
  const text = QUOTED_TYPES.map((type) => findPartText(email, type)).find((part) => part !== undefined) ?? '';
  return parseFields(text.replace(/\r\n/g, '\n').split('\n\n', 1)[0] ?? '');
}

function findPartText(email: Email, mimeType: string): string | undefined {
  const part = email.attachments.find((attachment) => attachment.mimeType.toLowerCase() === mimeType);
  return part && getAttachmentText(part);
}

/** Counts the lines that may be separators of MIME parts, up to `PARTS_MAX` + 1. */
function countBoundaries(raw: Buffer): number {
  let count = 0;
  for (let at = raw.indexOf('\n--'); at >= 0 && count <= PARTS_MAX; at = raw.indexOf('\n--', at + 3)) count += 1;
  return count;
}

function getAttachmentText({ content }: Attachment): string {
  const text = typeof content === 'string' ? content : decodeRawText(Buffer.from(content as ArrayBuffer));
  return text.slice(0, PART_MAX_CHARS);
}
