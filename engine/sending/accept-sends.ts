import { type RawBuilder, sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { type UpsertedContact, upsertContacts } from '../../db/contacts/upsert.ts';
import { insertAttachments } from '../../db/contents/attachments.ts';
import { saveContents } from '../../db/contents/contents.ts';
import { type CarriedVariables, toVariableColumns } from '../../db/emails/variable-columns.ts';
import {
  deleteIdempotencyKeys,
  insertIdempotencyKeys,
  type KeyedResponse,
  toIdempotencyMapKey,
  updateResponsesSql,
} from '../../db/idempotency-batch.ts';
import { insertOutboxSql, toOutboxRows } from '../../db/outbox/outbox.ts';
import { prepared } from '../../db/prepared.ts';
import { takeMonthlyAllowance } from '../../db/sending/monthly-usage.ts';
import type { CopyOptions } from '../../rules/emails/email-options.ts';
import { isLargeEmail } from '../../rules/emails/large-email.ts';
import type { Recipient, SendRequest, SendResponse } from '../../rules/emails/send-request.ts';
import { isSimulatorAddress } from '../../rules/emails/simulator.ts';
import { AppError } from '../../rules/errors.ts';
import { groupBy } from '../../rules/filters/group-by.ts';
import type { HeaderMailbox } from '../../rules/mime/mime-headers.ts';
import type { NewOutboxRow, OutboxRow } from '../../rules/outbox.ts';
import { overrideValues } from '../../rules/provenance/provenance.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { recordSubscriptionChanges } from '../contacts/subscription-changes.ts';
import { composeSends, type SendDraft } from './send-drafts.ts';

/** The result of one request: its response, or the reason why it had no effect. */
export type SendOutcome = { outcome: 'accepted'; response: SendResponse } | { outcome: 'refused'; error: AppError };

export interface AcceptedSends {
  /** In the order of the requests. */
  outcomes: SendOutcome[];
  /** The rows to pass to `outbox.wake` after the commit. */
  outbox: OutboxRow[];
}

/**
 * Accepts many `POST /v1/send` requests in the caller's transaction. For each kind of row (idempotency keys, contacts,
 * contents, attachments, emails, outbox), one statement handles many requests. A refused request stores nothing. Two
 * requests of one call must not have the same idempotency key, and must not change one contact in different ways. If
 * this function throws, the caller runs the requests one by one. Source: contract §1, docs/decisions.md.
 */
export async function acceptSends(
  trx: Trx,
  requests: SendRequest[],
  p: { suppressionKey: Buffer },
): Promise<AcceptedSends> {
  const refused = new Map<SendRequest, AppError>();
  const keyedRequests = requests.flatMap((r) =>
    r.idempotencyKey === undefined ? [] : [toKeyedRequest(r, r.idempotencyKey)],
  );
  const refusedKeys = await insertIdempotencyKeys(trx, keyedRequests);
  for (const request of requests) {
    const error =
      request.idempotencyKey === undefined ? undefined : refusedKeys.get(getKeyName(request, request.idempotencyKey));
    if (error) refused.set(request, error);
  }
  const drafts = await keepAcceptedDrafts(
    refused,
    await composeSends(
      trx,
      requests.filter((r) => !refused.has(r)),
      p.suppressionKey,
    ),
    trx,
  );
  const { responses, outbox } = await insertSends(trx, drafts, p.suppressionKey);
  return { outcomes: requests.map((request) => getSendOutcome(request, refused, responses)), outbox };
}

/** Adds refused drafts to `refused`, releases their idempotency keys, and returns the other drafts. */
async function keepAcceptedDrafts(
  refused: Map<SendRequest, AppError>,
  composed: Map<SendRequest, SendDraft | AppError>,
  trx: Trx,
): Promise<SendDraft[]> {
  const drafts = [...composed.values()].filter((draft): draft is SendDraft => 'content' in draft);
  const limitErrors = await takeMonthlyLimits(trx, drafts);
  const released: SendRequest[] = [];
  for (const [request, draft] of composed) {
    const error = 'content' in draft ? limitErrors.get(request) : draft;
    if (!error) continue;
    refused.set(request, error);
    released.push(request);
  }
  await deleteIdempotencyKeys(
    trx,
    released.flatMap((r) => (r.idempotencyKey === undefined ? [] : [toKeyedRequest(r, r.idempotencyKey)])),
  );
  return drafts.filter((draft) => !refused.has(draft.request));
}

/**
 * Counts live emails toward the monthly limit of their project, if the project has a limit. If all emails of the
 * project are within the limit, one statement counts them. Otherwise, each request is counted separately. Returns an
 * error for each request that would exceed the limit.
 */
async function takeMonthlyLimits(trx: Trx, drafts: SendDraft[]): Promise<Map<SendRequest, AppError>> {
  const limitErrors = new Map<SendRequest, AppError>();
  const limited = groupBy(
    drafts.filter(({ request }) => request.mode === 'live' && request.monthlyEmailLimit !== null),
    ({ request }) => request.projectId,
  );
  for (const [projectId, group] of [...limited].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const emails = (of: SendDraft[]) =>
      of.reduce((sum, { recipients }) => sum + recipients.filter(countsTowardLimit).length, 0);
    const limit = group[0]?.request.monthlyEmailLimit ?? null;
    if (await takeMonthlyAllowance(trx, { projectId, n: emails(group), limit })) continue;
    for (const draft of group) {
      const fits = await takeMonthlyAllowance(trx, { projectId, n: emails([draft]), limit });
      if (!fits)
        limitErrors.set(
          draft.request,
          new AppError('BILLING_LIMIT_EXCEEDED', { details: { monthlyEmailLimit: limit } }),
        );
    }
  }
  return limitErrors;
}

/** Tells whether an email counts toward the monthly limit. An email to a simulator address does not. */
const countsTowardLimit = (to: { email: string }): boolean => !isSimulatorAddress(to.email);

async function insertSends(
  trx: Trx,
  drafts: SendDraft[],
  suppressionKey: Buffer,
): Promise<{ responses: Map<SendRequest, SendResponse>; outbox: OutboxRow[] }> {
  if (drafts.length === 0) return { responses: new Map(), outbox: [] };
  const { contacts, outbox } = await saveRecipients(trx, drafts, suppressionKey);
  const contentIds = await saveContents(
    trx,
    drafts.map((draft) => draft.content),
  );
  const emails = drafts.flatMap((draft, index) =>
    buildEmails(draft, contentIds[index] ?? '', contacts.get(draft) ?? []),
  );
  await insertAttachments(
    trx,
    emails.flatMap((email) => email.newAttachments),
  );
  const responses = buildResponses(emails, new Map(drafts.map((draft) => [draft.request, draft])));
  const rows = toOutboxRows(emails.map(toOutboxRow));
  // Uses one statement, because each additional statement costs as much as accepting two requests.
  await prepared`
    WITH inserted AS (${insertEmails(emails)}), queued AS (${insertOutboxSql(rows)}) ${updateResponsesSql(listResponsesToStore(responses))}
  `.execute(trx);
  return { responses, outbox: [...outbox, ...rows] };
}

/**
 * Creates or updates the recipients' contacts. Handles projects, and the contacts of a project, in the order of their
 * ids, so that two concurrent batches lock them in the same order.
 */
async function saveRecipients(
  trx: Trx,
  drafts: SendDraft[],
  suppressionKey: Buffer,
): Promise<{ contacts: Map<SendDraft, UpsertedContact[]>; outbox: OutboxRow[] }> {
  const contacts = new Map<SendDraft, UpsertedContact[]>();
  const outbox: OutboxRow[] = [];
  const byProject = [...groupBy(drafts, ({ request }) => request.projectId)].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [projectId, group] of byProject) {
    const rows = group.flatMap(({ request, recipients }) =>
      recipients.map(({ email, role }) => ({
        email,
        // The data of the request is about its recipient, not about people who get a copy.
        subscribed: role ? undefined : request.subscribed,
        set: role ? {} : request.data.set,
        remove: role ? [] : request.data.remove,
        by: 'project' as const,
      })),
    );
    const saved = await upsertContacts(trx, {
      projectId,
      rows,
      defaultSubscribed: false,
      suppressionKey,
      causeId: null,
    });
    let at = 0;
    for (const draft of group) {
      contacts.set(draft, saved.slice(at, at + draft.recipients.length));
      at += draft.recipients.length;
    }
    for (const [mode, ofMode] of groupBy(group, ({ request }) => request.mode)) {
      const changed = ofMode.flatMap((draft) =>
        (contacts.get(draft) ?? []).map((contact) => ({ ...contact, by: draft.request.owner.name })),
      );
      const change = { projectId, contacts: changed, mode, untrustedTrigger: false, causeId: null };
      outbox.push(...(await recordSubscriptionChanges(trx, change)));
    }
  }
  return { contacts, outbox };
}

interface NewEmail extends CarriedVariables {
  id: string;
  request: SendRequest;
  projectId: string;
  contact: UpsertedContact;
  contentId: string;
  toEmail: string;
  toName: string | null;
  role: Recipient['role'];
  newAttachments: Parameters<typeof insertAttachments>[1];
}

/** Builds one email for each recipient. Their attachments are stored only once. */
function buildEmails(draft: SendDraft, contentId: string, contacts: UpsertedContact[]): NewEmail[] {
  const { request, recipients } = draft;
  const attachments = request.attachments.map((file) => ({ ...file, id: uuidv7(), projectId: request.projectId }));
  const headers = Object.keys(request.headers).length > 0 ? { headers: request.headers } : {};
  const files = attachments.length > 0 ? { attachmentIds: attachments.map((file) => file.id) } : {};
  const text = request.text === undefined ? {} : { text: request.text };
  const original = request.original === undefined ? {} : { original: request.original };
  const reply = request.replyTo && isMoreThanAddress(request.replyTo) ? { replyTo: request.replyTo } : {};
  const messageId = request.messageId === undefined ? {} : { messageId: request.messageId };
  const options = { ...headers, ...reply, ...messageId, ...text, ...files, ...original, ...request.again?.origin };
  const ids = recipients.map(() => uuidv7());
  const copies = listToAndCcIds(recipients, ids);
  // Copies have the same text as the email to the main recipient, so they use that recipient's variables.
  const [first] = contacts;
  return recipients.flatMap((recipient, index) => {
    const [contact, id] = [contacts[index], ids[index]];
    if (!contact || id === undefined) return [];
    return [
      {
        id,
        request,
        projectId: request.projectId,
        contact,
        contentId,
        toEmail: recipient.email,
        toName: recipient.name,
        role: recipient.role,
        // Stores the contact's current data and the request's values with the email, so that a later change of the
        // contact does not change the email.
        variables: overrideValues((recipient.role ? (first ?? contact) : contact).data, request.data.oneOff),
        options: copies ? { ...options, copies: { ...copies, role: recipient.role ?? 'to' } } : options,
        newAttachments: index === 0 ? attachments : [],
      },
    ];
  });
}

/**
 * Returns the ids of the emails whose addresses appear in To and Cc of every copy; undefined for an email without
 * copies.
 */
function listToAndCcIds(
  recipients: readonly Recipient[],
  ids: readonly string[],
): Omit<CopyOptions, 'role'> | undefined {
  if (!recipients.some(({ role }) => role !== undefined)) return undefined;
  const filterIds = (role: Recipient['role']) => ids.filter((_, n) => recipients[n]?.role === role);
  return { to: filterIds(undefined)[0] ?? '', cc: filterIds('cc') };
}

/**
 * Tells whether Reply-To has a name or several addresses, which are stored with each email. A single plain address is
 * stored with the content instead, which emails with the same text share.
 */
function isMoreThanAddress(replyTo: readonly HeaderMailbox[]): boolean {
  return replyTo.length > 1 || Boolean(replyTo[0]?.name);
}

function toOutboxRow({ projectId, id, request }: NewEmail): NewOutboxRow {
  const fileBytes = request.attachments.reduce((sum, { content }) => sum + content.byteLength, 0);
  return { projectId, kind: 'email.deliver', refId: id, payload: isLargeEmail(fileBytes) ? { large: true } : {} };
}

function insertEmails(emails: NewEmail[]): RawBuilder<unknown> {
  const rendered = emails.map(toVariableColumns);
  return sql`
    INSERT INTO emails (id, project_id, contact_id, content_id, source_type, mode, to_email, to_name, variables, options)
    SELECT u.id, u.project_id, u.contact_id, u.content_id, 'TRANSACTIONAL', u.mode, u.to_email, u.to_name, u.variables, u.options
    FROM unnest(${emails.map((m) => m.id)}::uuid[], ${emails.map((m) => m.projectId)}::uuid[],
      ${emails.map((m) => m.contact.id)}::uuid[], ${emails.map((m) => m.contentId)}::uuid[],
      ${emails.map((m) => m.request.mode)}::text[], ${emails.map((m) => m.toEmail)}::text[],
      ${emails.map((m) => m.toName)}::text[], ${rendered.map((r) => r.variables)}::jsonb[], ${rendered.map((r) => r.options)}::jsonb[])
      AS u (id, project_id, contact_id, content_id, mode, to_email, to_name, variables, options)`;
}

function buildResponses(emails: NewEmail[], drafts: Map<SendRequest, SendDraft>): Map<SendRequest, SendResponse> {
  const timestamp = new Date().toISOString();
  return new Map(
    [...groupBy(emails, (email) => email.request)].map(([request, group]) => [
      request,
      {
        success: true,
        data: {
          emails: group.map(({ contact, id, role }) => ({
            contact: { id: contact.id, email: contact.email },
            email: id,
            ...(role && { role }),
          })),
          ...pickSkipped(drafts.get(request)),
          timestamp,
        },
      },
    ]),
  );
}

function pickSkipped(draft: SendDraft | undefined): Pick<SendResponse['data'], 'skipped'> {
  return draft && draft.skipped.length > 0 ? { skipped: draft.skipped } : {};
}

function listResponsesToStore(responses: Map<SendRequest, SendResponse>): KeyedResponse[] {
  return [...responses].flatMap(([r, response]) =>
    r.idempotencyKey === undefined ? [] : [{ ...toKeyedRequest(r, r.idempotencyKey), statusCode: 200, response }],
  );
}

function getSendOutcome(
  request: SendRequest,
  refused: Map<SendRequest, AppError>,
  responses: Map<SendRequest, SendResponse>,
): SendOutcome {
  const error = refused.get(request);
  if (error) return { outcome: 'refused', error };
  const response = responses.get(request);
  if (!response) throw new Error('a request has neither a response nor a refusal');
  return { outcome: 'accepted', response };
}

function toKeyedRequest({ projectId, owner, request, fingerprint }: SendRequest, key: string) {
  return { projectId, key, owner, request, fingerprint };
}

function getKeyName({ projectId, owner }: SendRequest, key: string): string {
  return toIdempotencyMapKey({ projectId, owner, key });
}
