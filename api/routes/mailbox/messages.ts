import PostalMime, { type Email } from 'postal-mime';
import type { CapturedEmail } from '../../../db/sending/captured.ts';
import { Lru } from '../../../rules/lru.ts';
import { withWindowsLetters } from '../../../rules/mime/windows-1252.ts';
import type { MailboxMessage } from '../../../web/mailbox.ts';

/** Number of parsed emails to keep, so that polling the mailbox does not parse each email again. */
const KEPT_MAX = 1000;
const PREVIEW_CHARS = 120;

export interface ParsedEmail extends MailboxMessage {
  html: string;
}

const kept = new Lru<string, Promise<ParsedEmail>>(KEPT_MAX);

/** Parses a captured email. An email that was sent again is parsed again. */
export function parseCaptured(captured: CapturedEmail): Promise<ParsedEmail> {
  const key = `${captured.id} ${captured.createdAt.getTime()} ${captured.raw.length}`;
  const known = kept.get(key);
  if (known) return known;
  const parsed = PostalMime.parse(captured.raw).then((email) => asMessage(captured, email));
  kept.set(key, parsed);
  return parsed;
}

function asMessage(captured: CapturedEmail, email: Email): ParsedEmail {
  const text = withWindowsLetters(email.text ?? '');
  return {
    id: captured.id,
    from: email.from?.address ?? captured.fromEmail,
    to: captured.toEmail,
    subject: withWindowsLetters(email.subject ?? ''),
    preview: text.replace(/\s+/g, ' ').trim().slice(0, PREVIEW_CHARS),
    createdAt: captured.createdAt,
    headers: Object.fromEntries(email.headers.map((header) => [header.key, header.value])),
    text,
    html: withImages(email),
    hasHtml: email.html !== undefined,
    attachments: email.attachments.map((file) => ({
      filename: file.filename ?? '',
      type: file.mimeType,
      bytes: toBuffer(file.content).byteLength,
    })),
  };
}

/** Replaces `cid:` addresses by the inline images, like an email client. */
function withImages(email: Email): string {
  let html = withWindowsLetters(email.html ?? '');
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
