import type { Content } from '../db/contents.ts';
import { untrustedOf, variablesOf } from '../db/email-variables.ts';
import type { Email } from '../db/emails.ts';
import { compileContent, listUnsubscribeHeaders, renderContent } from '../domain/content.ts';
import { htmlToText } from '../domain/content-text.ts';
import { emailDomain } from '../domain/email-address.ts';
import { linkToken, messageId } from '../domain/link-tokens.ts';
import { formatMailbox } from '../domain/mime-headers.ts';
import { TemplateError } from '../domain/template-error.ts';

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
 * An email as its recipient read it, rendered again from content and variables; without pixel and counted links, so that looking at it in
 * a dashboard counts for nothing. What a template error kept from leaving is shown as written.
 */
export function emailAsRead(email: Email, content: Content, links: LinkSettings): EmailAsRead {
  if (email.sourceType === 'INBOUND')
    return { ...written(email, content), text: htmlToText(content.body), headers: headersOf(email, email.subject, []) };
  try {
    const { subject, body, type } = content;
    const compiled = compileContent({ subject, body, type, trackOpens: false, trackClicks: false });
    const urls = { baseUrl: links.publicUrl, ...linkToken(links.secretKey, email.id) };
    const parts = renderContent(compiled, variablesOf(email), urls, untrustedOf(email));
    const unsubscribe = listUnsubscribeHeaders(compiled, urls);
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
    'message-id': messageId(email.id, emailDomain(email.from)),
    ...(email.sentAt && { date: email.sentAt.toUTCString() }),
  };
}
