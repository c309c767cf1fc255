import type { Compute, Work } from '../../../compute/compute.ts';
import { readyContent, renderedParts } from '../../../compute/contents.ts';
import type { Content } from '../../../db/contents/contents.ts';
import { variablesOf } from '../../../db/emails/email-variables.ts';
import type { Email } from '../../../db/emails/emails.ts';
import { BoundExceeded } from '../../../rules/bounded.ts';
import { contentSource, listUnsubscribeHeaders } from '../../../rules/content/content.ts';
import { linkToken, messageId } from '../../../rules/content/link-tokens.ts';
import { TemplateError } from '../../../rules/content/template-error.ts';
import { emailDomain } from '../../../rules/emails/email-address.ts';
import { formatMailbox } from '../../../rules/mime/mime-headers.ts';

/** As much of a stranger's HTML is made text: a mail that somebody wrote is far shorter. */
const STRANGERS_HTML_CHARS = 64 * 1024;

export interface EmailAsRead {
  subject: string;
  body: string;
  text: string;
  /** Names in lower case. */
  headers: Record<string, string>;
}

/** Where links of the service lead, and what signs them. */
export interface LinkSettings {
  publicUrl: string;
  secretKey: string;
}

/**
 * An email as its recipient read it, rendered again from content and variables; without pixel and counted links, so
 * that looking at it in a dashboard counts for nothing. What a template error kept from leaving is shown as written.
 */
export async function emailAsRead(
  compute: Compute,
  p: { projectId: string; email: Email; content: Content; links: LinkSettings },
): Promise<EmailAsRead> {
  const { email, content, links } = p;
  const work = { projectId: p.projectId, kind: 'email.preview' };
  if (email.sourceType === 'INBOUND') {
    const text = await strangersText(compute, work, content.body);
    return { ...written(email, content), text, headers: headersOf(email, email.subject, []) };
  }
  try {
    const ready = await readyContent(compute, work, contentSource(content, false));
    const urls = { baseUrl: links.publicUrl, ...linkToken(links.secretKey, email.id) };
    const input = { vars: variablesOf(email), urls };
    const parts = await renderedParts(compute, work, { content: ready, input });
    const unsubscribe = listUnsubscribeHeaders(ready, urls);
    return {
      subject: parts.subject,
      body: parts.html,
      text: email.options?.text ?? parts.text,
      headers: headersOf(email, parts.subject, unsubscribe),
    };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { ...written(email, content), headers: headersOf(email, email.subject, []) };
  }
}

/**
 * Of a mail that anybody may have written: its beginning, in a thread. Nothing where that takes too long; the body is
 * there all the same.
 */
async function strangersText(compute: Compute, work: Work, body: string): Promise<string> {
  try {
    return await compute.inThread(work, 'html.text', { html: body.slice(0, STRANGERS_HTML_CHARS) });
  } catch (error) {
    if (error instanceof BoundExceeded) return '';
    throw error;
  }
}

function written(email: Email, { body }: Content): Omit<EmailAsRead, 'headers'> {
  return { subject: email.subject, body, text: '' };
}

function headersOf(email: Email, subject: string, more: [string, string][]): Record<string, string> {
  const custom = Object.entries(email.options?.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const own = more.map(([name, value]) => [name.toLowerCase(), value]);
  return {
    ...Object.fromEntries(custom),
    ...Object.fromEntries(own),
    from: formatMailbox({ name: email.fromName, email: email.from }),
    ...(email.to && { to: formatMailbox({ name: email.toName, email: email.to }) }),
    ...(email.replyTo && { 'reply-to': email.replyTo }),
    subject,
    'message-id': email.options?.original?.messageId ?? messageId(email.id, emailDomain(email.from)),
    ...(email.sentAt && { date: email.sentAt.toUTCString() }),
  };
}
