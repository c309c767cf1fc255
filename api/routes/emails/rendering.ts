import type { Compute, Work } from '../../../compute/compute.ts';
import { compileForSending, renderToStrings } from '../../../compute/contents.ts';
import type { Db } from '../../../db/connection.ts';
import type { Content } from '../../../db/contents/contents.ts';
import { type Email, findShownRecipients } from '../../../db/emails/emails.ts';
import { buildStoredVariables } from '../../../engine/sending/email-variables.ts';
import { buildListUnsubscribeHeaders, toContentSource } from '../../../rules/content/content.ts';
import { createLinkTokens } from '../../../rules/content/link-tokens.ts';
import { TemplateError } from '../../../rules/content/template-error.ts';
import { getMessageId } from '../../../rules/emails/message-id.ts';
import { formatMailbox, type HeaderMailbox } from '../../../rules/mime/mime-headers.ts';
import { TimeLimitExceeded } from '../../../rules/time-limit.ts';

/**
 * Maximum number of characters of untrusted HTML that are converted to text. An email that a person writes is far
 * shorter.
 */
const UNTRUSTED_HTML_CHARS = 64 * 1024;

/** An email as its recipient sees it. */
export interface EmailAsRead {
  subject: string;
  body: string;
  text: string;
  /** Header names are in lower case. */
  headers: Record<string, string>;
}

/** The recipients in the header of an email. `to` is null after the contact was erased. */
export interface ShownRecipients {
  to: HeaderMailbox | null;
  cc: HeaderMailbox[];
}

/** Reads the recipients in the header of an email. In an email with copies, these are all recipients except `bcc`. */
export async function readShownRecipients(db: Db, p: { projectId: string; email: Email }): Promise<ShownRecipients> {
  const { to, toName, options } = p.email;
  if (!options?.copies) return { to: to === null ? null : { email: to, name: toName }, cc: [] };
  const shown = await findShownRecipients(db, { projectId: p.projectId, copies: options.copies });
  return { to: shown.to ?? null, cc: shown.cc };
}

/** Base URL of the service's links, and the key that signs them. */
export interface LinkSettings {
  publicUrl: string;
  secretKey: string;
}

/**
 * Renders an email again from its content and variables, as its recipient has read it. The result has no pixel and no
 * tracked links, so no opens and clicks are counted when a user views it in the dashboard. An inbound email is returned
 * as it was received. If the template of an email cannot be rendered, returns the template itself.
 */
export async function renderEmailAsRead(
  compute: Compute,
  p: { projectId: string; email: Email; content: Content; links: LinkSettings; shown: ShownRecipients },
): Promise<EmailAsRead> {
  const { email, content, links, shown } = p;
  const work = { projectId: p.projectId, kind: 'email.preview' };
  if (email.sourceType === 'INBOUND') {
    const text = await loadUntrustedText(compute, work, content.body);
    return {
      ...toUnrenderedEmail(email, content),
      text,
      headers: createHeaders(email, shown, { subject: email.subject }),
    };
  }
  try {
    const ready = await compileForSending(compute, work, toContentSource(content, false));
    const urls = { baseUrl: links.publicUrl, ...createLinkTokens(links.secretKey, email.id) };
    const input = { vars: buildStoredVariables(email), urls };
    const parts = await renderToStrings(compute, work, { content: ready, input });
    const unsubscribe = buildListUnsubscribeHeaders(ready, urls);
    return {
      subject: parts.subject,
      body: parts.html,
      text: email.options?.text ?? parts.text,
      headers: createHeaders(email, shown, { subject: parts.subject, more: unsubscribe }),
    };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { ...toUnrenderedEmail(email, content), headers: createHeaders(email, shown, { subject: email.subject }) };
  }
}

/**
 * Converts the start of an untrusted email to text, in a thread. Returns an empty text if this takes too long; the
 * response then still has the HTML.
 */
async function loadUntrustedText(compute: Compute, work: Work, body: string): Promise<string> {
  try {
    return await compute.runInThread(work, 'html.text', { html: body.slice(0, UNTRUSTED_HTML_CHARS) });
  } catch (error) {
    if (error instanceof TimeLimitExceeded) return '';
    throw error;
  }
}

function toUnrenderedEmail(email: Email, { body }: Content): Omit<EmailAsRead, 'headers'> {
  return { subject: email.subject, body, text: '' };
}

function createHeaders(
  email: Email,
  { to, cc }: ShownRecipients,
  { subject, more = [] }: { subject: string; more?: [string, string][] },
): Record<string, string> {
  const callerHeaders = Object.entries(email.options?.headers ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    value,
  ]);
  const replies = email.options?.replyTo?.map(formatMailbox).join(', ') ?? email.replyTo;
  const serviceHeaders = more.map(([name, value]) => [name.toLowerCase(), value]);
  return {
    ...Object.fromEntries(callerHeaders),
    ...Object.fromEntries(serviceHeaders),
    from: formatMailbox({ name: email.fromName, email: email.from }),
    ...(to && { to: formatMailbox(to) }),
    ...(cc.length > 0 && { cc: cc.map(formatMailbox).join(', ') }),
    ...(replies && { 'reply-to': replies }),
    subject,
    'message-id': getMessageId(email),
    ...(email.sentAt && { date: email.sentAt.toUTCString() }),
  };
}
