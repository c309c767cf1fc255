import MailComposer from 'nodemailer/lib/mail-composer';
import type MimeNode from 'nodemailer/lib/mime-node';
import { withCrlf } from '../../rules/mime/crlf.ts';
import { ID_FIELD_PATTERN, toFoldableText, toSingleLine } from '../../rules/mime/mime-headers.ts';
import { hasUnsendableLine } from '../../rules/mime/sendable-lines.ts';

export interface NamedAddress {
  name?: string | null | undefined;
  address: string;
}

export interface EmailAttachment {
  filename: string;
  contentType: string;
  content: Buffer;
  /**
   * `inline` with a content id is an image that the HTML shows by `cid:<contentId>`; `alternative` is another form of
   * the body, such as an invitation.
   */
  disposition?: string | null | undefined;
  contentId?: string | null | undefined;
}

export interface MessageParts {
  from: NamedAddress;
  to: NamedAddress;
  cc?: readonly NamedAddress[] | undefined;
  replyTo?: readonly NamedAddress[] | undefined;
  subject: string;
  html: string;
  text: string;
  /** Further headers, such as List-Unsubscribe. Headers in `OWN_HEADERS` and invalid names are skipped. */
  headers?: readonly (readonly [name: string, value: string])[];
  attachments?: readonly EmailAttachment[];
  /** The Message-ID with its angle brackets. All attempts use the same Message-ID. */
  messageId: string;
  date: Date;
}

const HEADER_NAME = /^[!-9;-~]{1,76}$/;
/** Headers that this file, the MIME composer, the DKIM signer or a mail server sets. Callers cannot set them. */
const OWN_HEADERS =
  /^(from|sender|to|cc|bcc|subject|date|message-id|reply-to|return-path|received|mime-version|content-(?!language$).*|dkim-.*)$/i;

/**
 * Builds the whole message from text and HTML as alternatives, inline images and attachments. All lines end in CRLF and
 * have at most 998 octets. No text in the input can add a header, read a file of this machine or fetch a URL.
 */
export async function buildMessage(input: MessageParts): Promise<Buffer> {
  const attachments = input.attachments ?? [];
  const forms = attachments.filter(({ disposition }) => disposition === 'alternative');
  const composer = new MailComposer({
    from: toComposerAddress(input.from),
    to: toComposerAddress(input.to),
    ...(input.cc?.length ? { cc: input.cc.map(toComposerAddress) } : {}),
    ...(input.replyTo?.length ? { replyTo: input.replyTo.map(toComposerAddress) } : {}),
    subject: toFoldableText(input.subject),
    html: input.html,
    text: input.text,
    headers: toComposerHeaders(input.headers ?? []),
    alternatives: forms.map(toComposerAlternative),
    attachments: attachments.filter(({ disposition }) => disposition !== 'alternative').map(toComposerAttachment),
    messageId: toSingleLine(input.messageId),
    date: input.date,
    textEncoding: 'quoted-printable',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const message = composer.compile();
  nameFilesByDisposition(message);
  sortAlternatives(message);
  // The composer does not convert the line ends of an attached message.
  return withCrlf(await message.build());
}

/**
 * Sorts the alternatives of the body. AMP comes before the HTML, because email clients show the last alternative that
 * they support. Alternatives of other types come after the HTML.
 */
function sortAlternatives(node: MimeNode): void {
  if (isType(node, 'multipart/alternative')) node.childNodes.sort((one, other) => getRank(one) - getRank(other));
  for (const child of node.childNodes) sortAlternatives(child);
}

function getRank(node: MimeNode): number {
  if (isType(node, 'text/plain')) return 0;
  return isType(node, 'text/x-amp-html') ? 1 : 2;
}

function isType(node: MimeNode, type: string): boolean {
  return String(node.getHeader('Content-Type')).toLowerCase().startsWith(type);
}

/**
 * Writes the name of each file only into Content-Disposition, encoded by RFC 2231 if it is long or not ASCII. By
 * default the MIME composer would repeat the name in Content-Type, as an encoded word in quotes for old programs. RFC
 * 2047 §5 forbids this.
 */
function nameFilesByDisposition(node: MimeNode): void {
  if (node.filename) {
    const name = node.filename.replace(/["\\]/g, '\\$&');
    node.setHeader('Content-Disposition', `${node.getHeader('Content-Disposition')}; filename="${name}"`);
    node.filename = undefined;
  }
  for (const child of node.childNodes) nameFilesByDisposition(child);
}

/**
 * Returns name and address as an object, so that the composer does not parse a name like `x@y, z@w` as two addresses.
 */
function toComposerAddress({ name, address }: NamedAddress): { name: string; address: string } {
  return { name: toSingleLine(name ?? ''), address: toSingleLine(address) };
}

function toComposerHeaders(headers: readonly (readonly [string, string])[]): { key: string; value: string }[] {
  return headers
    .filter(([name]) => HEADER_NAME.test(name) && !OWN_HEADERS.test(name))
    .map(([key, value]) => ({ key, value: ID_FIELD_PATTERN.test(key) ? toSingleLine(value) : toFoldableText(value) }));
}

function toComposerAttachment(attachment: EmailAttachment) {
  const cid = attachment.contentId ? toSingleLine(attachment.contentId).replace(/^<|>$/g, '') : undefined;
  return {
    filename: toSingleLine(attachment.filename),
    contentType: toSafeFileType(attachment),
    content: attachment.content,
    contentDisposition: attachment.disposition === 'inline' ? ('inline' as const) : ('attachment' as const),
    ...(cid ? { cid } : {}),
  };
}

/**
 * Returns an alternative of the body for the composer. The alternative has no file name, because email clients would
 * show a named alternative as an attachment.
 */
function toComposerAlternative({ contentType, content }: EmailAttachment) {
  const type = toSingleLine(contentType);
  const needsCharset = /^text\//i.test(type) && !/;\s*charset\s*=/i.test(type);
  return { contentType: needsCharset ? `${type}; charset=utf-8` : type, content };
}

/**
 * Returns the content type of an attachment. A file is sent as `application/octet-stream`, which is encoded in base64,
 * if the encoding of its own type is a problem:
 * - RFC 2045 §6.4 forbids base64 for a multipart type, and email clients would search the file for parts.
 * - The composer does not encode a message, so its lines are sent unchanged. Mail servers reject or change a message
 *   with a NUL octet or a line of more than 998 octets.
 */
function toSafeFileType({ contentType, content }: EmailAttachment): string {
  const type = toSingleLine(contentType);
  const isUnsafe = /^multipart\//i.test(type) || (/^message\//i.test(type) && hasUnsendableLine(withCrlf(content)));
  return isUnsafe ? 'application/octet-stream' : type;
}
