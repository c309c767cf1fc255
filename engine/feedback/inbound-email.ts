import { sql } from 'kysely';
import type { Db, Trx } from '../../db/connection.ts';
import { upsertContacts } from '../../db/contacts/upsert.ts';
import { insertAttachments } from '../../db/contents/attachments.ts';
import { saveContent } from '../../db/contents/contents.ts';
import { NO_TEXT } from '../../rules/content/email-text.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { recordEvents } from '../events/record-events.ts';

/** The search for a duplicate reads this many emails: the latest ones from and to the sender's contact. */
const EMAILS_COMPARED = 100;

/** A file in a received email. */
export interface ReceivedFile {
  filename: string | null;
  contentType: string;
  contentId: string | null;
  content: Buffer;
}

/** One received email, for one project. */
export interface ReceivedEmail {
  /** The address of the person who wrote it. */
  sender: string;
  fromName: string | null;
  subject: string;
  /** The HTML that the dashboard shows. */
  html: string;
  messageId: string;
  /** SHA-256 of the whole message. */
  digest: Buffer;
  /** The recipients that belong to the project. The first one is stored with the email. */
  recipients: string[];
  files: ReceivedFile[];
  /** Data of the event `email.received` in addition to the data that all email events have. */
  detail: Record<string, unknown>;
}

/**
 * Lists the ids of enabled projects with this verified domain. For a host `in.<domain>`, which receives inbound email,
 * `<domain>` counts as well. Lists at most 20 projects.
 */
export async function listDomainOwners(db: Db, domain: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT DISTINCT d.project_id AS id FROM domains d JOIN projects p ON p.id = d.project_id
    WHERE d.domain = ANY(${[domain, domain.replace(/^in\./, '')]}::text[]) AND d.status = 'VERIFIED' AND p.disabled_at IS NULL ORDER BY d.project_id LIMIT 20
  `.execute(db);
  return rows.map((row) => row.id);
}

/**
 * Finds the recipients' addresses of emails of any project. The caller has verified the email ids by signed return
 * paths. An email whose contact was erased is absent from the result.
 */
export async function findEmailAddresses(db: Db, emailIds: string[]): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; address: string }>`
    SELECT e.id, coalesce(e.to_email, c.email) AS address
    FROM emails e LEFT JOIN contacts c ON c.project_id = e.project_id AND c.id = e.contact_id
    WHERE e.id = ANY(${emailIds}::uuid[]) AND coalesce(e.to_email, c.email) IS NOT NULL
  `.execute(db);
  return new Map(rows.map(({ id, address }) => [id, address]));
}

/**
 * Records an email to a project with the status RECEIVED, and the event `email.received` on the sender's contact. If no
 * contact has the sender's address, a contact is created without a subscription. The files are kept for 30 days, or for
 * `ATTACHMENT_RETENTION_DAYS` if that is longer. The event is untrusted: in an email that uses the event's data, the
 * data appears only as plain text, never in a link target or a header.
 * Safe to run twice, because a mail server that did not get our reply delivers the email again. A duplicate has the
 * same Message-ID, first recipient and bytes as a received email among the latest 100 emails from and to the contact.
 * The same email is therefore recorded again if it arrives separately for another address of the project. A repeated
 * Message-ID with different content is a new email, and so is every email without a Message-ID. Source: contract §8.2,
 * §2.3.
 * @returns the rows to pass to `outbox.wake` after the commit
 */
export async function recordReceivedEmail(
  trx: Trx,
  p: { projectId: string; suppressionKey: Buffer; email: ReceivedEmail },
): Promise<OutboxRow[]> {
  const { projectId, email } = p;
  const rows = [{ email: email.sender, set: {}, remove: [], by: 'unauthenticated' as const }];
  const [contact] = await upsertContacts(trx, { ...p, rows, defaultSubscribed: false, causeId: null });
  if (!contact) throw new Error('an upserted contact is missing from the result of the upsert');
  if (await isDuplicate(trx, { projectId, contactId: contact.id, email })) return [];
  const contentId = await saveContent(trx, {
    ...NO_TEXT,
    subject: email.subject,
    body: email.html,
    from: email.sender,
    fromName: email.fromName,
    projectId,
    type: 'TRANSACTIONAL',
    templateId: null,
  });
  const id = uuidv7();
  const files = email.files.map((file) => ({ ...file, id: uuidv7() }));
  const options = files.length > 0 ? JSON.stringify({ attachmentIds: files.map((file) => file.id) }) : null;
  await insertAttachments(
    trx,
    files.map((file) => ({
      ...file,
      projectId,
      filename: file.filename ?? '',
      disposition: file.contentId === null ? ('attachment' as const) : ('inline' as const),
    })),
  );
  await sql`
    INSERT INTO emails (id, project_id, contact_id, content_id, source_type, status, to_email, provider_message_id, received_digest, options)
    VALUES (${id}, ${projectId}, ${contact.id}, ${contentId}, 'INBOUND', 'RECEIVED', ${email.recipients[0] ?? null}, ${email.messageId}, ${email.digest},
      ${options}::jsonb)
  `.execute(trx);
  const data = {
    subject: email.subject,
    from: email.sender,
    fromName: email.fromName,
    messageId: email.messageId,
    emailId: id,
    templateId: null,
    campaignId: null,
    sourceType: 'INBOUND',
    attachments: files.map(({ id: fileId, filename, contentType, contentId: cid, content }) => ({
      id: fileId,
      filename,
      contentType,
      size: content.byteLength,
      contentId: cid,
    })),
    ...email.detail,
  };
  const event = {
    contactId: contact.id,
    emailId: id,
    name: 'email.received',
    data,
    untrusted: true,
    untrustedTrigger: true,
    causeId: null,
  };
  return (await recordEvents(trx, { projectId, events: [event] })).outbox;
}

async function isDuplicate(
  trx: Trx,
  { projectId, contactId, email }: { projectId: string; contactId: string; email: ReceivedEmail },
): Promise<boolean> {
  if (email.messageId === '') return false;
  const { rows } = await sql`
    SELECT FROM (
      SELECT provider_message_id, source_type, to_email, received_digest FROM emails WHERE contact_id = ${contactId} AND project_id = ${projectId}
      ORDER BY id DESC LIMIT ${EMAILS_COMPARED}) AS latest
    WHERE source_type = 'INBOUND' AND provider_message_id = ${email.messageId}
      AND to_email IS NOT DISTINCT FROM ${email.recipients[0] ?? null} AND received_digest = ${email.digest}
  `.execute(trx);
  return rows.length > 0;
}
