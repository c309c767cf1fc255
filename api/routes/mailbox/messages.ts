import PostalMime, { type Email } from 'postal-mime';
import type { CapturedEmail } from '../../../db/sending/captured.ts';
import { Lru } from '../../../rules/lru.ts';
import { replaceC1Controls } from '../../../rules/mime/windows-1252.ts';
import type { MailboxMessage } from '../../../web/mailbox.ts';

/**
 * Maximum number of parsed emails in memory, so that a client that polls the mailbox does not cause each email to be
 * parsed again.
 */
const CACHED_MAX = 1000;
const PREVIEW_CHARS = 120;

export interface ParsedEmail extends MailboxMessage {
  html: string;
}

const parsedEmails = new Lru<string, Promise<ParsedEmail>>(CACHED_MAX);

/** Parses a captured email, or returns it from the cache. If the email was sent again, its new message is parsed. */
export function parseCaptured(captured: CapturedEmail): Promise<ParsedEmail> {
  const key = `${captured.id} ${captured.createdAt.getTime()} ${captured.raw.length}`;
  const cached = parsedEmails.get(key);
  if (cached) return cached;
  const parsed = PostalMime.parse(captured.raw).then((email) => toParsedEmail(captured, email));
  parsedEmails.set(key, parsed);
  return parsed;
}

function toParsedEmail(captured: CapturedEmail, email: Email): ParsedEmail {
  const text = replaceC1Controls(email.text ?? '');
  return {
    id: captured.id,
    from: email.from?.address ?? captured.fromEmail,
    to: captured.toEmail,
    subject: replaceC1Controls(email.subject ?? ''),
    preview: text.replace(/\s+/g, ' ').trim().slice(0, PREVIEW_CHARS),
    createdAt: captured.createdAt,
    headers: Object.fromEntries(email.headers.map((header) => [header.key, header.value])),
    text,
    html: inlineImages(email),
    hasHtml: email.html !== undefined,
    attachments: email.attachments.map((file) => ({
      filename: file.filename ?? '',
      type: file.mimeType,
      bytes: toBuffer(file.content).byteLength,
    })),
  };
}

/** Returns the HTML with the inline images instead of their `cid:` addresses, as an email client shows it. */
function inlineImages(email: Email): string {
  let html = replaceC1Controls(email.html ?? '');
  for (const file of email.attachments) {
    if (!file.contentId) continue;
    const data = `data:${file.mimeType};base64,${toBuffer(file.content).toString('base64')}`;
    html = html.replaceAll(`cid:${file.contentId.replace(/^<|>$/g, '')}`, () => data);
  }
  return html;
}

function toBuffer(content: ArrayBuffer | Uint8Array | string): Buffer {
  if (typeof content === 'string') return Buffer.from(content);
  return content instanceof Uint8Array ? Buffer.from(content) : Buffer.from(new Uint8Array(content));
}
