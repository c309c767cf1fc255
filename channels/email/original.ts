import { formatMailDate, toSingleLine } from '../../rules/mime/mime-headers.ts';
import {
  findBodyStart,
  findMimeParts,
  findOnlyHtmlPart,
  findRawFields,
  withTransferEncoding,
} from '../../rules/mime/mime-parts.ts';
import { encodeQuotedPrintable } from '../../rules/mime/quoted-printable.ts';

/** An application's message from the SMTP relay, before the service completes and signs it. */
export interface OriginalInput {
  /** The message from `prepareOriginal`. */
  message: Buffer;
  /**
   * The HTML with tracked links and the tracking pixel, which replaces the message's HTML. If undefined, the message
   * keeps its HTML.
   */
  html: string | undefined;
  /** Used if the message lacks this header. */
  messageId: string;
  /** Used if the message lacks this header. */
  date: Date;
}

/**
 * Completes a message of the relay: adds Message-ID and Date if they are missing, and replaces the HTML by the tracked
 * HTML (see `withHtml`). All other bytes of `message` do not change (contract §9.13 Relay).
 */
export function completeRelayedMessage({ message, html, messageId, date }: OriginalInput): Buffer {
  const names = new Set(findRawFields(message, 0, findBodyStart(message)).map(({ name }) => name));
  const added = [
    ...(names.has('message-id') ? [] : [`Message-ID: ${toSingleLine(messageId)}\r\n`]),
    ...(names.has('date') ? [] : [`Date: ${formatMailDate(date)}\r\n`]),
  ].join('');
  const body = html === undefined ? message : withHtml(message, html);
  return Buffer.concat([Buffer.from(added, 'latin1'), body]);
}

/**
 * Replaces the HTML part of a message. Writes the new HTML as UTF-8 in quoted-printable, adapts the header of this
 * part, and removes the application's DKIM signatures, which are no longer valid.
 */
function withHtml(message: Buffer, html: string): Buffer {
  const root = findMimeParts(message);
  const part = findOnlyHtmlPart(root);
  if (!part) return message;
  const isRoot = part === root;
  const outer = withoutSignatures(message.toString('latin1', 0, isRoot ? part.bodyStart - 2 : root.bodyStart));
  const header = isRoot ? outer : message.toString('latin1', part.start, part.bodyStart - 2);
  const partHeader = `${withTransferEncoding(withUtf8(header), 'quoted-printable')}\r\n`;
  const before = isRoot ? [] : [Buffer.from(outer, 'latin1'), message.subarray(root.bodyStart, part.start)];
  return Buffer.concat([
    ...before,
    Buffer.from(partHeader, 'latin1'),
    Buffer.from(encodeQuotedPrintable(html), 'latin1'),
    message.subarray(part.end),
  ]);
}

function withUtf8(header: string): string {
  return header.replace(/^content-type[ \t]*:[^\r\n]*(?:\r\n[ \t][^\r\n]*)*/im, (field) => {
    const withoutCharset = field.replace(/;\s*charset(?:\*\d*)?\*?\s*=\s*("[^"]*"|[^\s;]*)/gi, '');
    return `${withoutCharset}; charset=utf-8`;
  });
}

function withoutSignatures(header: string): string {
  return header.replace(/^dkim-signature[ \t]*:[^\r\n]*\r\n(?:[ \t][^\r\n]*\r\n)*/gim, '');
}
