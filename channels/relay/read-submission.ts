import { extname } from 'node:path';
import type { Address, Attachment, Email, Mailbox } from 'postal-mime';
import { escapeHtml } from '../../rules/content/plain-value.ts';
import { isEmailAddress, normalizeEmail, parseMailbox } from '../../rules/emails/email-address.ts';
import type { Recipient, SendAttachment } from '../../rules/emails/send-request.ts';
import { parseUnquotedAuthor } from '../../rules/mime/author.ts';
import { parseMime } from '../mime-parser.ts';

/** A parsed message of a client. */
export interface Submission {
  from: Recipient | null;
  /** The first address in Reply-To. */
  replyTo: string | null;
  subject: string;
  html: string;
  /** The text part of the message. Null if the message has none. */
  text: string | null;
  /** The names of the mailboxes in To and Cc, by address. */
  names: Map<string, string>;
  /**
   * The headers of the message that the email's record lists: all headers without the headers that `NOT_KEPT` matches.
   */
  headers: Record<string, string>;
  attachments: SendAttachment[];
}

/**
 * Matches headers that are not in the record's list of headers. Some are in separate fields of the record. Others
 * describe the encoding or transport, or must stay private, such as Bcc.
 */
const NOT_KEPT =
  /^(from|sender|to|cc|bcc|subject|date|message-id|reply-to|return-path|delivered-to|(x-)?received|mime-version|content-.*|dkim-.*|arc-.*|authentication-results|resent-.*)$/;

/**
 * Parses a message that a client sent to the relay.
 * @throws Error for an unreadable message (channels/mime-parser.ts)
 */
export async function readSubmission(raw: Buffer): Promise<Submission> {
  const email = await parseMime(raw);
  const text = email.text === undefined ? null : toStorableText(email.text).replace(/\r?\n$/, '');
  return {
    from: findAuthor(email),
    replyTo: toRecipient(listMailboxes(email.replyTo)[0])?.email ?? null,
    subject: toStorableText(email.subject ?? ''),
    html: email.html === undefined ? toHtml(text ?? '') : toStorableText(email.html),
    text,
    names: mapNamesByAddress(email),
    headers: Object.fromEntries(
      email.headers
        .filter(({ key }) => !NOT_KEPT.test(key))
        .map(({ originalKey, value }) => [originalKey, toStorableText(value)]),
    ),
    attachments: email.attachments.map(toAttachment),
  };
}

function findAuthor(email: Email): Recipient | null {
  const written = email.headers.find(({ key }) => key === 'from')?.value ?? '';
  const author = parseUnquotedAuthor(written) ?? toRecipient(listMailboxes(email.from)[0]);
  if (author !== null && isEmailAddress(author.email)) return author;
  // The parser removes the quotes of a local part, such as `"ann lee"@example.com`.
  const quoted = parseMailbox(written);
  return quoted.ok ? { email: quoted.email, name: quoted.name } : author;
}

function listMailboxes(addresses: Address | Address[] | undefined): Mailbox[] {
  const list = addresses === undefined ? [] : Array.isArray(addresses) ? addresses : [addresses];
  return list.flatMap((address) => address.group ?? [address]).filter(({ address }) => address.includes('@'));
}

function toRecipient(mailbox: Mailbox | undefined): Recipient | null {
  return mailbox ? { email: normalizeEmail(mailbox.address), name: toStorableText(mailbox.name) || null } : null;
}

function mapNamesByAddress({ to, cc }: Email): Map<string, string> {
  const named = [...listMailboxes(to), ...listMailboxes(cc)].filter(({ name }) => name !== '');
  return new Map(named.map(({ address, name }) => [normalizeEmail(address), toStorableText(name)]));
}

/** Returns HTML with the same lines for a message that has only text. */
function toHtml(text: string): string {
  return `<div style="white-space:pre-wrap">${escapeHtml(text)}</div>`;
}

function toAttachment(file: Attachment, index: number): SendAttachment {
  const contentId = file.contentId?.replace(/^<|>$/g, '').trim() || null;
  const inline = contentId !== null && (file.disposition === 'inline' || file.related === true);
  return {
    filename: getFilename(file, index),
    contentType: file.mimeType,
    disposition: inline ? 'inline' : 'attachment',
    contentId,
    content: toBuffer(file.content),
  };
}

/** Returns the bytes without copying them, because files are large. */
function toBuffer(content: Attachment['content']): Buffer {
  if (typeof content === 'string') return Buffer.from(content);
  return content instanceof ArrayBuffer
    ? Buffer.from(content)
    : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
}

/**
 * Returns the file name without control characters and quotes, in at most 255 characters. A part without a name is
 * named by its position.
 */
function getFilename({ filename, mimeType }: Attachment, index: number): string {
  const name = toStorableText(filename ?? '')
    .replace(/[\p{Cc}"]/gu, '')
    .trim();
  if (name !== '') return name.length > 255 ? name.slice(0, 255 - extname(name).length) + extname(name) : name;
  return `attachment-${index + 1}${mimeType === 'message/rfc822' ? '.eml' : ''}`;
}

/** Returns text that Postgres can store. */
function toStorableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}
