import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { findRefusals, findSuppressions, needsResubscribe } from '../../db/contacts/suppressions.ts';
import type { NewContent } from '../../db/contents/contents.ts';
import { selectEmailText } from '../../db/contents/email-text.ts';
import { prepared } from '../../db/prepared.ts';
import type { EmailType } from '../../db/schema/contents.ts';
import { isOnTopicSql } from '../../db/topics/contact-topics.ts';
import { type EmailText, NO_TEXT, pickEmailText } from '../../rules/content/email-text.ts';
import { emailDomain } from '../../rules/emails/email-address.ts';
import { isSuppressionFor } from '../../rules/emails/reasons.ts';
import type { Recipient, SendRequest, SendResponse } from '../../rules/emails/send-request.ts';
import { AppError, createFieldError, ERRORS } from '../../rules/errors.ts';
import { groupBy } from '../../rules/filters/group-by.ts';

/**
 * A request with the content of its emails: the fields of the template, replaced by the fields of the request where
 * set.
 */
export interface SendDraft {
  request: SendRequest;
  content: NewContent;
  /** The recipients of the request, without skipped copies (Cc and Bcc). */
  recipients: Recipient[];
  skipped: SkippedCopy[];
}
type SkippedCopy = NonNullable<SendResponse['data']['skipped']>[number];

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The error of `subscribed: true` that does not end the refusal of a contact (contract §3.3 Subscription). */
const PROTECTED_REFUSAL = {
  message: 'A recipient has refused marketing email, and the project protects such refusals.',
  suggestion:
    'Send a TRANSACTIONAL template. If the person has agreed again, first save the contact with POST /contacts and resubscribe: true.',
};

/**
 * Turns requests into drafts, or returns the error of a refused request: TEMPLATE_NOT_FOUND, no sender,
 * DOMAIN_NOT_VERIFIED, CONTACT_UNSUBSCRIBED. Makes a few queries for any number of requests, and one more query for
 * each project whose requests have copies, or subscribe the recipients of MARKETING email. Source: contract §1.7 Status
 * codes.
 */
export async function composeSends(
  trx: Trx,
  requests: SendRequest[],
  suppressionKey: Buffer,
): Promise<Map<SendRequest, SendDraft | AppError>> {
  const templates = await findTemplates(trx, requests);
  const composed = new Map(requests.map((request) => [request, composeDraft(request, templates)]));
  const drafts = () => [...composed.values()].filter((draft): draft is SendDraft => 'content' in draft);
  const verified = await findVerifiedSenders(trx, drafts());
  for (const { request, content } of drafts()) {
    if (verified.has(toSenderKey(content))) continue;
    composed.set(request, createRefusal('DOMAIN_NOT_VERIFIED', 'from', { from: content.from }));
  }
  await skipSuppressedCopies(trx, drafts(), suppressionKey);
  const marketing = drafts().filter(({ content }) => content.type === 'MARKETING');
  for (const [draft, emails] of await findTopicLeavers(trx, marketing)) {
    const to = removeCopies(draft, emails, 'unsubscribed');
    const message = 'A recipient has left the topic of this template.';
    if (to.length > 0)
      composed.set(draft.request, createRefusal('CONTACT_UNSUBSCRIBED', 'to', { emails: to }, { message }));
  }
  for (const [draft, emails] of await findUnsubscribed(trx, marketing, suppressionKey)) {
    const to = removeCopies(draft, emails, 'unsubscribed');
    const reason = draft.request.subscribed === true ? PROTECTED_REFUSAL : {};
    if (to.length > 0) composed.set(draft.request, createRefusal('CONTACT_UNSUBSCRIBED', 'to', { emails: to }, reason));
  }
  return composed;
}

/**
 * Builds an error that names the field of the request. For an atomic batch, `buildBatchError` adds the email's position
 * to the field's name.
 */
function createRefusal(
  code: 'DOMAIN_NOT_VERIFIED' | 'TEMPLATE_NOT_FOUND' | 'CONTACT_UNSUBSCRIBED',
  field: string,
  details: Record<string, unknown>,
  { message = ERRORS[code].message, suggestion }: { message?: string; suggestion?: string } = {},
): AppError {
  return new AppError(code, {
    message,
    details,
    errors: [{ field, message, code: 'custom' }],
    ...(suggestion && { suggestion }),
  });
}

/** Removes the copies to these addresses from the draft. Returns the addresses that belong to main recipients. */
function removeCopies(draft: SendDraft, emails: readonly string[], reason: SkippedCopy['reason']): string[] {
  const ofDraft = new Set(listCopyAddresses(draft));
  const copies = new Set(emails.filter((email) => ofDraft.has(email)));
  draft.skipped.push(...[...copies].map((email) => ({ email, reason })));
  draft.recipients = draft.recipients.filter(({ email }) => !copies.has(email));
  return emails.filter((email) => !copies.has(email));
}

/**
 * Skips copies to suppressed addresses. A suppressed main recipient is not checked here: the email is stored, and is
 * skipped with the reason `suppressed` just before it would be sent.
 */
async function skipSuppressedCopies(trx: Trx, drafts: SendDraft[], key: Buffer): Promise<void> {
  const withCopies = drafts.filter((draft) => listCopyAddresses(draft).length > 0);
  for (const [projectId, group] of groupBy(withCopies, ({ request }) => request.projectId)) {
    const found = await findSuppressions(trx, key, { projectId, emails: group.flatMap(listCopyAddresses) });
    for (const draft of group) {
      const isSuppressed = (email: string) =>
        found.get(email)?.some((reason) => isSuppressionFor(reason, draft.content.type));
      removeCopies(draft, listCopyAddresses(draft).filter(isSuppressed), 'suppressed');
    }
  }
}

function listCopyAddresses({ recipients }: SendDraft): string[] {
  return recipients.filter(({ role }) => role !== undefined).map(({ email }) => email);
}

interface SendTemplate extends EmailText<string | null> {
  id: string;
  project_id: string;
  type: EmailType;
  topicId: string | null;
}

async function findTemplates(trx: Trx, requests: SendRequest[]): Promise<Map<string, SendTemplate>> {
  const wanted = requests.flatMap(({ templateId, projectId }) =>
    templateId !== undefined && UUID.test(templateId) ? [{ templateId, projectId }] : [],
  );
  if (wanted.length === 0) return new Map();
  const { rows } = await prepared<SendTemplate>`
    SELECT DISTINCT t.id, t.project_id, t.type, t.topic_id AS "topicId", ${selectEmailText('t')}
    FROM unnest(${wanted.map((w) => w.projectId)}::uuid[], ${wanted.map((w) => w.templateId)}::uuid[]) AS w (project_id, id)
    JOIN templates t ON t.project_id = w.project_id AND t.id = w.id
  `.execute(trx);
  return new Map(rows.map((row) => [`${row.project_id} ${row.id}`, row]));
}

function composeDraft(request: SendRequest, templates: Map<string, SendTemplate>): SendDraft | AppError {
  const { projectId, templateId, again } = request;
  const base = { request, recipients: request.to, skipped: [] };
  if (again) return { ...base, content: { ...again.content, projectId } };
  const template = templateId === undefined ? undefined : templates.get(`${projectId} ${templateId.toLowerCase()}`);
  if (templateId !== undefined && !template)
    return createRefusal('TEMPLATE_NOT_FOUND', 'template', { template: templateId });
  const text: EmailText<string | null> = template ? pickEmailText(template) : NO_TEXT;
  const from = request.from?.email ?? text.from;
  if (!from) return createFieldError('from', 'Required, since the template has no sender of its own.', 'invalid_type');
  return {
    ...base,
    content: {
      ...text,
      subject: request.subject ?? text.subject,
      body: request.body ?? text.body,
      from,
      // If the request has a sender, the template's sender name is not used.
      fromName: request.from ? request.from.name : text.fromName,
      replyTo: request.replyTo?.[0]?.email ?? text.replyTo,
      projectId,
      type: template?.type ?? 'TRANSACTIONAL',
      templateId: template?.id ?? null,
      topicId: template?.topicId ?? null,
    },
  };
}

const toSenderKey = ({ projectId, from }: NewContent): string => `${projectId} ${emailDomain(from)}`;

/** Finds the pairs of project and sender domain among these drafts that are verified. */
async function findVerifiedSenders(trx: Trx, drafts: SendDraft[]): Promise<Set<string>> {
  const wanted = new Map(drafts.map(({ content }) => [toSenderKey(content), content]));
  if (wanted.size === 0) return new Set();
  const contents = [...wanted.values()];
  const { rows } = await prepared<{ project_id: string; domain: string }>`
    SELECT d.project_id, d.domain
    FROM unnest(${contents.map((c) => c.projectId)}::uuid[], ${contents.map((c) => emailDomain(c.from))}::text[])
      AS w (project_id, domain)
    JOIN domains d ON d.project_id = w.project_id AND d.domain = w.domain AND d.status = 'VERIFIED'
  `.execute(trx);
  return new Set(rows.map((row) => `${row.project_id} ${row.domain}`));
}

/**
 * Finds the MARKETING drafts with recipients who will not be subscribed after the request. An existing contact keeps
 * its subscription, a new contact is not subscribed, and `subscribed` in the request overrides both, except for
 * protected refusals (contract §1.7 Status codes, §3.3 Subscription).
 */
async function findUnsubscribed(
  trx: Trx,
  drafts: SendDraft[],
  suppressionKey: Buffer,
): Promise<Map<SendDraft, string[]>> {
  const protectedRecipients = await findProtectedRecipients(trx, drafts, suppressionKey);
  const requested = ({ request }: SendDraft, one: Recipient) => {
    const isOverridden = request.subscribed === true && protectedRecipients.has(toRecipientKey(request, one));
    return one.role || isOverridden ? undefined : request.subscribed;
  };
  const undecided = drafts.filter((draft) => draft.recipients.some((one) => requested(draft, one) === undefined));
  const subscribed = await findSubscribed(trx, undecided);
  const refused = new Map<SendDraft, string[]>();
  for (const draft of drafts) {
    const isUnsubscribed = (one: Recipient) =>
      !(requested(draft, one) ?? subscribed.has(toRecipientKey(draft.request, one)));
    const unsubscribedEmails = draft.recipients.filter(isUnsubscribed).map(({ email }) => email);
    if (unsubscribedEmails.length > 0) refused.set(draft, unsubscribedEmails);
  }
  return refused;
}

const toRecipientKey = ({ projectId }: SendRequest, { email }: Recipient): string => `${projectId} ${email}`;

/**
 * Finds the recipients of these drafts whose refusal is not ended by `subscribed: true` of the request. Makes one query
 * for each project whose requests have this field.
 */
async function findProtectedRecipients(trx: Trx, drafts: SendDraft[], suppressionKey: Buffer): Promise<Set<string>> {
  const found = new Set<string>();
  const subscribing = drafts.filter(({ request }) => request.subscribed === true);
  for (const [projectId, group] of groupBy(subscribing, ({ request }) => request.projectId)) {
    const emails = group.flatMap(({ recipients }) => recipients.map(({ email }) => email));
    const refusals = await findRefusals(trx, suppressionKey, { projectId, emails });
    for (const [email, refusal] of refusals) if (needsResubscribe(refusal)) found.add(`${projectId} ${email}`);
  }
  return found;
}

/**
 * Finds the MARKETING drafts about a topic that some recipients have left, with these recipients. For a new contact,
 * the default of the topic applies.
 */
async function findTopicLeavers(trx: Trx, drafts: SendDraft[]): Promise<Map<SendDraft, string[]>> {
  const wanted = drafts.flatMap(({ recipients, content }, draft) =>
    content.topicId ? recipients.map(({ email }) => ({ draft, email, ...content })) : [],
  );
  const refused = new Map<SendDraft, string[]>();
  if (wanted.length === 0) return refused;
  const { rows } = await sql<{ draft: number; email: string }>`
    SELECT w.draft, w.email
    FROM unnest(${wanted.map((w) => w.draft)}::int[], ${wanted.map((w) => w.projectId)}::uuid[], ${wanted.map((w) => w.email)}::text[],
      ${wanted.map((w) => w.topicId)}::uuid[]) AS w (draft, project_id, email, topic_id)
    LEFT JOIN contacts c ON c.project_id = w.project_id AND c.email = w.email
    WHERE NOT ${isOnTopicSql({ contact: sql`c.id`, topic: sql`w.topic_id` })}
  `.execute(trx);
  for (const { draft: n, email } of rows) {
    const draft = drafts[n];
    if (draft) refused.set(draft, [...(refused.get(draft) ?? []), email]);
  }
  return refused;
}

async function findSubscribed(trx: Trx, drafts: SendDraft[]): Promise<Set<string>> {
  const wanted = drafts.flatMap(({ request, recipients }) =>
    recipients.map(({ email }) => ({ email, projectId: request.projectId })),
  );
  if (wanted.length === 0) return new Set();
  const { rows } = await sql<{ project_id: string; email: string }>`
    SELECT c.project_id, c.email
    FROM unnest(${wanted.map((w) => w.projectId)}::uuid[], ${wanted.map((w) => w.email)}::text[]) AS w (project_id, email)
    JOIN contacts c ON c.project_id = w.project_id AND c.email = w.email AND c.subscribed
  `.execute(trx);
  return new Set(rows.map((row) => `${row.project_id} ${row.email}`));
}
