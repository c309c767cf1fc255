import type { Attachment, Email } from 'postal-mime';
import { htmlToText } from '../../rules/content/content-text.ts';
import type { Feedback } from '../../rules/emails/email-feedback.ts';
import { ABOUT_ANOTHER_ADDRESS, classifyRefusal, parseDiagnostic } from '../../rules/emails/refusal.ts';
import { classifyCode, classifyText } from '../../rules/emails/refusal-table.ts';
import { decodeRawText } from '../../rules/mime/header-charset.ts';
import { parseMime } from '../mime-parser.ts';
import { hasAutomaticMark, hasProgramSubject, isMailSystem } from './automatic-email.ts';
import { actionOf, statusOf } from './delivery-status.ts';
import { firstWord } from './field-values.ts';
import { namesAnyAddress, namesOtherAddress, patternOfAddress } from './named-addresses.ts';

/** A parsed email from a person or a program. */
export interface InboundEmail {
  messageId: string;
  /** The id of the email that it replies to, with its angle brackets; null without one. */
  inReplyTo: string | null;
  /** The ids of its thread, oldest first, with their angle brackets. */
  references: string[];
  attachments: InboundAttachment[];
  /** The address in From, in lower case; null without one. */
  from: string | null;
  /** From as it is written. */
  fromHeader: string;
  fromName: string | null;
  subject: string;
  text: string | null;
  html: string | null;
  /** True if its headers say that a program wrote it. The envelope may say so, too. */
  hasAutomaticMark: boolean;
}

/** An attached file. */
export interface InboundAttachment {
  filename: string | null;
  contentType: string;
  /** The decoded file. */
  content: Buffer;
  /** The id that the HTML names it by (`cid:`), without angle brackets. */
  contentId: string | null;
}

/** The kind of a message: a report about our email, or an email. */
export type ReadMessage =
  /**
   * A delivery report or a bounce. `of` returns what the report says about the recipient of an email. The address is
   * null if it is no longer stored.
   */
  | { kind: 'status'; of(address: string | null): StatusReport }
  /** `returnPaths` and `links` come from the reported email, if the complaint quotes it. */
  | { kind: 'complaint'; feedback: Feedback; returnPaths: string[]; links: string[] }
  /** An automatic report that needs no action. */
  | { kind: 'nothing'; why: string }
  | { kind: 'mail'; mail: InboundEmail };

/** The content of a report. A report of a delay or of a forwarded email has nothing to record. */
export type StatusReport = { kind: 'report'; feedback: Feedback } | { kind: 'nothing'; why: string };

/**
 * The number of bytes that are parsed first. The parser takes 300 ms per megabyte of short lines. Reports are at the
 * beginning of a message, so only other email is parsed beyond this limit, to list its attachments.
 */
const PARSED_MAX_BYTES = 512 * 1024;
/** The parser takes 4 seconds per megabyte of empty parts. */
const PARTS_MAX = 500;
/** Reports are short. A hostile one must not make the patterns run for minutes. */
const PART_MAX_CHARS = 128 * 1024;
const LINKS_MAX_CHARS = 4 * 1024;
/** Limits for the data of an event, because the whole event is stored and sent to webhooks. */
const ATTACHMENTS_MAX = 100;
const NAME_MAX_CHARS = 255;
const REFERENCES_MAX = 100;
/** RFC 5322 §2.1.1: an id cannot be folded, and a line has at most 998 characters. */
const MESSAGE_ID = /<[^<>\s]{1,996}>/g;
/** Bounces in words name the refusal before they quote the email. */
const RETURNED_MAX_CHARS = 20_000;
/** A reply with an enhanced code, qmail's `(#5.1.1)`, or a bare `550 words` that stands first or behind a colon. */
const REFUSAL_LINE = /\b5\d\d[ -]#?5\.\d{1,3}\.\d{1,3}\b|#5\.\d{1,3}\.\d{1,3}\b|(?:^\s*|: |<<< )55\d(?:[ :-]{1,2}\S|$)/;
/** qmail gives up with the last temporary reply: `(#4.4.7)`. */
const LAST_REPLY_LINE = /#4\.\d{1,3}\.\d{1,3}\b/;
const REPLY_CODE = /\b5\d\d(?:[ :-]|$)/;
/** A reply, or the reason below an address, is a few lines long. */
const WORDS_MAX_LINES = 5;
/** A line of an SMTP session that a bounce shows. */
const TRANSCRIPT = /-->|<--|>>>|<<</;
/** The line above a copy of the email. */
const COPY_BELOW = /^--[^\n]*\b(copy|original message|message headers?)\b/im;
const QUOTED_HEADER = /^[>\s]*(?!(?:recipient|reason|error|failed)\b)[\w-]+(?: to)?:[^:]*@/i;
const DELAY =
  /\bdelay|\bwarning\b|not (?:yet )?been (?:delivered|possible) yet|\bnot yet been\b|\b(?:will|still) (?:be )?(?:(?:re)?tr[iy]|continu|keep)|temporar|no action is required/i;
/** A delay in other languages. */
const FOREIGN_DELAY =
  /verz(?:ö|oe)ger|(?:noch|bisher) nicht zugestellt|weitere? versuch|\bretard|\bpas encore|\bretras|todav[ií]a no|\breintent|\britard|non (?:è )?(?:stato )?ancora|\batrasad|ainda n[aã]o|vertraagd|\bnog niet|opóźni|задерж|ещ[её] не достав|延迟|延遲|遅延|지연/i;
/** The email that a report quotes. The `global` forms come from RFC 6533. */
const QUOTED_TYPES = ['message/rfc822', 'text/rfc822-headers', 'message/global', 'message/global-headers'] as const;
/**
 * Actions that change nothing (RFC 3464 §2.3.3). The log contains no other word of a report, because an untrusted
 * sender wrote it.
 */
const ACTIONS: ReadonlySet<string> = new Set(['delayed', 'relayed', 'expanded']);

/** Facts about the delivery of a message. */
interface ReadingOf {
  at: Date;
  /** The envelope sender; empty for the null sender. */
  sender: string;
  /** Whether it was sent to a return path. */
  isReturned: boolean;
}

/**
 * Reads delivery status notifications (RFC 3464), abuse reports (RFC 5965), read receipts (RFC 8098), and other email.
 * Reports are recognized first, because many of them have the headers of automatic replies.
 */
export async function readMessage(raw: Buffer, p: ReadingOf): Promise<ReadMessage> {
  const start = raw.subarray(0, PARSED_MAX_BYTES);
  if (countBoundaries(start) > PARTS_MAX) throw new Error(`more than ${PARTS_MAX} parts`);
  const email = await parseMime(start);
  const parseWholeEmail = async () => inboundEmailOf(raw.length > start.length ? await parseWhole(raw, email) : email);
  // Anyone may attach a report to an email, or forward one.
  if (!p.isReturned && !isMailSystem(p.sender) && !isReport(email))
    return { kind: 'mail', mail: await parseWholeEmail() };
  const status = partOf(email, 'message/delivery-status') ?? partOf(email, 'message/global-delivery-status');
  if (status !== undefined)
    return readDeliveryStatus(status, { at: p.at, body: isOfMailSystem(email, p.sender) ? bodyOf(email) : '' });
  const abuse = partOf(email, 'message/feedback-report');
  if (abuse !== undefined) return readAbuseReport(abuse, quotedHeaders(email), p.at);
  if (isReadReceipt(email)) return { kind: 'nothing', why: 'a read receipt' };
  if (p.isReturned) return readReturned(email, p);
  return { kind: 'mail', mail: await parseWholeEmail() };
}

/**
 * Parses a long email completely, in the parser's thread. If more than `PARTS_MAX` of its lines could separate parts,
 * as in a long SQL text, only the parsed beginning is used, because the parser would take minutes for many parts.
 */
async function parseWhole(raw: Buffer, beginning: Email): Promise<Email> {
  return countBoundaries(raw) > PARTS_MAX ? beginning : parseMime(raw);
}

/**
 * Reads the blocks of fields: the first is about the message, each other one about a recipient. Our emails have one
 * recipient, but a relay may report about several.
 */
function readDeliveryStatus(text: string, p: { at: Date; body: string }): ReadMessage {
  const blocks = text
    .replace(/\r\n/g, '\n')
    .trim()
    .split(/\n\s*\n/)
    .map(fieldsOf);
  return { kind: 'status', of: (address) => readRecipientStatus(statusOf(blocks, address), { ...p, address }) };
}

/**
 * Reads the result for one recipient. `body` is the text for people: OpenSMTPD gives the reason only there, with the
 * status 5.0.0.
 */
function readRecipientStatus(
  found: ReturnType<typeof statusOf>,
  { at, body, address }: { at: Date; body: string; address: string | null },
): StatusReport {
  const { fields: recipient, isAboutAnother } = found;
  const action = actionOf(recipient);
  if (action === 'delivered') return { kind: 'report', feedback: { kind: 'delivery', at } };
  if (action !== 'failed')
    return {
      kind: 'nothing',
      why: `a delivery status with ${ACTIONS.has(action) ? `the action ${action}` : 'an unknown action'}`,
    };
  const status = firstWord(recipient.get('status') ?? '') || null;
  const isUnclear = classifyCode(status, undefined) === undefined;
  const words =
    recipient.get('diagnostic-code') || (isUnclear && findRefusal(body.split(/\r?\n/), patternOf(address))) || '';
  return bounceReport(words, { status, at, isAboutAnother });
}

function readAbuseReport(text: string, quoted: Map<string, string>, at: Date): ReadMessage {
  const fields = fieldsOf(text);
  const type = firstWord(fields.get('feedback-type') ?? '');
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
 * Reads a bounce without a machine-readable report, from servers that do not support RFC 3464. The return path proves
 * which email it is about. It counts only if a mail system sent it, because a person or an auto-responder may quote the
 * same text.
 */
function readReturned(email: Email, p: { at: Date; sender: string }): ReadMessage {
  const failed = email.headers.filter(({ key }) => key === 'x-failed-recipients').map(({ value }) => value);
  const isAuthorSystem = isMailSystem(email.from?.address || 'unknown');
  // Exim marks its bounces as automatic replies, too.
  if (isAutomatic(email) && !isAuthorSystem && failed.length === 0)
    return { kind: 'nothing', why: 'an automatic reply' };
  if (!isOfMailSystem(email, p.sender)) return { kind: 'nothing', why: 'a returned message of a person' };
  const lines = bodyOf(email).split(/\r?\n/);
  const isDelay = failed.length === 0 && [email.subject ?? '', ...lines].some(isDelayLine);
  const isWorded = !isDelay && (isAuthorSystem || failed.length > 0 || isPostmaster(email));
  const returned = { lines, failed: failed.join(' '), at: p.at, isDelay, isWorded };
  return { kind: 'status', of: (address) => readReturnedStatus(returned, address) };
}

function isDelayLine(line: string): boolean {
  return DELAY.test(line) || FOREIGN_DELAY.test(line);
}

interface Returned {
  lines: string[];
  /** The addresses of X-Failed-Recipients, which Exim writes if it has given up. */
  failed: string;
  at: Date;
  /** The report only warns of a delay: its server still attempts the delivery. */
  isDelay: boolean;
  /**
   * True if the text counts without a code. The text of other senders does not, because an answering machine may write
   * `ann@example.org is no longer with us`, too.
   */
  isWorded: boolean;
}

function readReturnedStatus({ lines, failed, at, ...is }: Returned, address: string | null): StatusReport {
  const own = patternOf(address);
  const isGivenUp = failed !== '';
  const isAboutAnother = own !== null && isGivenUp && !own.test(failed);
  const words = isAboutAnother
    ? undefined
    : (findRefusal(lines, own) ??
      (is.isDelay ? undefined : findRefusal(lines, own, LAST_REPLY_LINE)) ??
      (is.isWorded ? findWords(lines, own) : undefined));
  if (words !== undefined) return bounceReport(words, { status: null, at, isAboutAnother: false });
  const other = findRefusal(lines, null);
  if (other === undefined && !isGivenUp) return { kind: 'nothing', why: 'a returned message without a status' };
  return bounceReport(other ?? '', { status: null, at, isAboutAnother: true });
}

function patternOf(address: string | null): RegExp | null {
  return address === null ? null : patternOfAddress(address);
}

/**
 * Finds a server's reply in a text, about our recipient or without a named address. With several recipients, the
 * address is on the same line or shortly before.
 */
function findRefusal(lines: string[], own: RegExp | null, pattern = REFUSAL_LINE): string | undefined {
  const found = lines.findIndex((line, at) => {
    if (!pattern.test(line)) return false;
    const named = lineWithAddress(lines, at);
    return own === null || named === undefined || own.test(named);
  });
  return found < 0 ? undefined : replyAt(lines, found);
}

/**
 * Finds the reason below an address in a bounce without codes, such as Exim's `Unrouteable address` or Domino's `not
 * listed in Domino Directory`. Undefined if its text does not say.
 */
function findWords(lines: string[], own: RegExp | null): string | undefined {
  if (own === null) return undefined;
  for (const [at, line] of lines.entries()) {
    if (QUOTED_HEADER.test(line) || !own.test(line)) continue;
    const below = lines.slice(at, at + WORDS_MAX_LINES);
    const other = below.findIndex((text, n) => n > 0 && namesOtherAddress(text, own));
    const words = below
      .slice(0, other < 0 ? undefined : other)
      .join(' ')
      .replace(/\s+/g, ' ')
      .trim();
    if (classifyText(words, null) !== undefined) return words;
  }
  return undefined;
}

/** Returns the nearest line that names an address, up to three lines above. */
function lineWithAddress(lines: string[], at: number): string | undefined {
  return lines
    .slice(Math.max(0, at - 3), at + 1)
    .reverse()
    .find(namesAnyAddress);
}

/** Returns a server's reply from its code on, with the indented lines on which it continues. */
function replyAt(lines: string[], at: number): string {
  const line = lines[at] ?? '';
  const start = line.search(REPLY_CODE);
  const after = lines.slice(at + 1, at + WORDS_MAX_LINES);
  const end = after.findIndex((text) => !/^\s+\S/.test(text) || TRANSCRIPT.test(text));
  return [start < 0 ? line : line.slice(start), ...after.slice(0, end < 0 ? undefined : end)]
    .map((text) => text.trim())
    .join(' ');
}

function isOfMailSystem(email: Email, sender: string): boolean {
  return isMailSystem(sender) || isMailSystem(email.from?.address || 'unknown');
}

function isAutomatic(email: Email): boolean {
  return hasAutomaticMark(email.headers) || hasProgramSubject(email.subject ?? '');
}

function isPostmaster(email: Email): boolean {
  return email.from?.address?.toLowerCase().startsWith('postmaster@') ?? false;
}

/** Returns the text for people, without a copy of the email below it. */
function bodyOf(email: Email): string {
  const html = email.html?.slice(0, RETURNED_MAX_CHARS) ?? '';
  const text = (email.text?.trim() ? email.text : htmlToText(html)).slice(0, RETURNED_MAX_CHARS);
  return text.slice(0, COPY_BELOW.exec(text)?.index);
}

function bounceReport(words: string, p: { status: string | null; at: Date; isAboutAnother: boolean }): StatusReport {
  const { status, at } = p;
  const diagnostic = parseDiagnostic(words);
  const refusal = p.isAboutAnother
    ? ABOUT_ANOTHER_ADDRESS
    : classifyRefusal({ ...diagnostic, enhanced: diagnostic.enhanced ?? status, stage: 'dsn' });
  return { kind: 'report', feedback: { kind: 'bounce', at, refusal, words: words || (status ?? '') } };
}

function inboundEmailOf(email: Email): InboundEmail {
  const written = email.headers.find(({ key }) => key === 'from')?.value ?? '';
  return {
    messageId: email.messageId ?? '',
    inReplyTo: idsOf(email, 'in-reply-to')[0] ?? null,
    references: idsOf(email, 'references').slice(-REFERENCES_MAX),
    attachments: email.attachments.slice(0, ATTACHMENTS_MAX).map(describeAttachment),
    from: email.from?.address?.trim().toLowerCase() || null,
    fromHeader: written,
    fromName: email.from?.name || null,
    subject: email.subject ?? '',
    text: email.text ?? null,
    html: email.html ?? null,
    hasAutomaticMark: isAutomatic(email) || isReport(email) || hasNullReturnPath(email),
  };
}

/** Lists the message ids of a header field. */
function idsOf(email: Email, name: string): string[] {
  const value = email.headers.find(({ key }) => key === name)?.value ?? '';
  return value.match(MESSAGE_ID) ?? [];
}

function describeAttachment({ filename, mimeType, contentId, content }: Attachment): InboundAttachment {
  return {
    filename: filename?.slice(0, NAME_MAX_CHARS) || null,
    contentType: mimeType.toLowerCase().slice(0, NAME_MAX_CHARS),
    content: typeof content === 'string' ? Buffer.from(content) : Buffer.from(content as ArrayBuffer),
    contentId: contentId?.replace(/^<|>$/g, '').slice(0, NAME_MAX_CHARS) || null,
  };
}

/**
 * Tells whether a server that passed the email on has noted the null sender, which its own envelope no longer shows.
 */
function hasNullReturnPath(email: Email): boolean {
  return email.headers.some(({ key, value }) => key === 'return-path' && value.trim() === '<>');
}

/** Tells whether the whole email is a read receipt (RFC 8098). An email with an attached receipt is not. */
function isReadReceipt(email: Email): boolean {
  return isReport(email) && /disposition-notification/i.test(contentTypeOf(email));
}

function isReport(email: Email): boolean {
  return /^\s*multipart\/report\b/i.test(contentTypeOf(email));
}

function contentTypeOf(email: Email): string {
  return email.headers.find(({ key }) => key === 'content-type')?.value ?? '';
}

/**
 * Returns the fields of a header (RFC 5322), with folded lines joined and names in lower case. The first field of a
 * name counts.
 */
function fieldsOf(text: string): Map<string, string> {
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

/** Returns the headers of the email that a report quotes. */
function quotedHeaders(email: Email): Map<string, string> {
  const text = QUOTED_TYPES.map((type) => partOf(email, type)).find((part) => part !== undefined) ?? '';
  return fieldsOf(text.replace(/\r\n/g, '\n').split('\n\n', 1)[0] ?? '');
}

function partOf(email: Email, mimeType: string): string | undefined {
  const part = email.attachments.find((attachment) => attachment.mimeType.toLowerCase() === mimeType);
  return part && textOf(part);
}

/** Counts lines that could separate parts. */
function countBoundaries(raw: Buffer): number {
  let count = 0;
  for (let at = raw.indexOf('\n--'); at >= 0 && count <= PARTS_MAX; at = raw.indexOf('\n--', at + 3)) count += 1;
  return count;
}

function textOf({ content }: Attachment): string {
  const text = typeof content === 'string' ? content : decodeRawText(Buffer.from(content as ArrayBuffer));
  return text.slice(0, PART_MAX_CHARS);
}
