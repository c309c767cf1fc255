import { sql } from 'kysely';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { TokenSubject } from '../../rules/content/link-tokens.ts';
import { normalizeEmail } from '../../rules/emails/email-address.ts';
import type { SuppressionReason } from '../../rules/emails/reasons.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { touch } from '../campaigns/touches.ts';
import type { Db, Trx } from '../connection.ts';
import { setContactTopics } from '../topics/choices.ts';
import { recordSubscriptionChanges, type SubscriptionState } from './subscription-changes.ts';
import { addSuppressions, findSuppressions, liftSuppressions } from './suppressions.ts';

/** What only the person puts on the list or takes off it by themselves (contract §3.7). */
const OWN_REASONS: readonly SuppressionReason[] = ['unsubscribe', 'complaint'];
const SOURCE = 'unsubscribe_page';

/** Whom a link of the pages is about: the reader of one mail, or a contact. */
export interface LinkSubject {
  projectId: string;
  projectName: string;
  color: string | null;
  /** The mail that the link came with; null for a link made outside of one. */
  emailId: string | null;
  mode: KeyMode;
  /** Null where the contact is gone, or the mail went to somebody else. */
  contactId: string | null;
  /** The addresses it speaks for, first the one the mail went to; none once the person was erased. */
  addresses: string[];
  /** Whether marketing may go there. */
  subscribed: boolean;
  /** What the mail was about, where it has a topic and the link speaks for a contact. */
  topic: { id: string; name: string; joined: boolean } | null;
}

/** Undefined when the contact, or the mail, is not there any more. */
export async function findLinkSubject(db: Db, key: Buffer, token: TokenSubject): Promise<LinkSubject | undefined> {
  const row = token.kind === 'email' ? await findByEmail(db, token.id) : await findByContact(db, token.id);
  if (!row) return undefined;
  // A step may write to another address than the contact's: its reader speaks for that address only.
  const isOther = row.source_type === 'WORKFLOW' && row.to_email !== null && row.to_email !== row.contact_email;
  const contactId = isOther ? null : row.contact_id;
  const known = [row.to_email, isOther ? null : row.contact_email].flatMap((email) =>
    email ? [normalizeEmail(email)] : [],
  );
  const addresses = [...new Set(known)];
  const suppressed = await findSuppressions(db, key, { projectId: row.project_id, emails: addresses });
  const refused = [...suppressed.values()].flat().some((reason) => OWN_REASONS.includes(reason));
  return {
    projectId: row.project_id,
    projectName: row.project_name,
    color: row.color,
    emailId: row.email_id,
    mode: row.mode,
    contactId,
    addresses,
    topic: contactId === null ? null : await findTopicOf(db, row, contactId),
    subscribed: addresses.length > 0 && !refused && (contactId === null || row.subscribed === true),
  };
}

/**
 * The person does not want marketing any more: unsubscribes the contact with its event, puts the addresses on the
 * suppression list, and notes it on the mail. May run twice: nothing changes then. Source: RFC 8058 §3.1,
 * contract §9.3.
 * @returns rows for `lifecycle.dispatch`, after the commit
 */
export async function unsubscribeByLink(trx: Trx, key: Buffer, subject: LinkSubject): Promise<OutboxRow[]> {
  const outbox = await setSubscribed(trx, subject, false);
  await addSuppressions(trx, key, {
    projectId: subject.projectId,
    entries: subject.addresses.map((email) => ({ email, reason: 'unsubscribe', source: SOURCE, actor: 'contact' })),
  });
  await noteUnsubscribed(trx, subject);
  return outbox;
}

/**
 * The person wants no more mail about what this mail was about: they leave its topic, and it is noted on the mail. May
 * run twice.
 * @returns rows for `lifecycle.dispatch`, after the commit
 */
export async function leaveTopicByLink(trx: Trx, _key: Buffer, subject: LinkSubject): Promise<OutboxRow[]> {
  const { topic, contactId, projectId, mode } = subject;
  if (!topic || contactId === null) return [];
  const outbox = await setContactTopics(trx, { projectId, contactId, topics: { [topic.id]: false }, mode });
  await noteUnsubscribed(trx, subject);
  return outbox;
}

async function noteUnsubscribed(trx: Trx, { projectId, emailId }: LinkSubject): Promise<void> {
  if (emailId === null) return;
  await sql`
    WITH noted AS (
      UPDATE emails SET unsubscribed_at = now()
      WHERE project_id = ${projectId} AND id = ${emailId} AND unsubscribed_at IS NULL RETURNING id, campaign_id, project_id)
    ${touch(sql`SELECT * FROM noted`)}
  `.execute(trx);
}

/**
 * The person wants marketing again: subscribes the contact with its event, and lifts what they had said before; a dead
 * mailbox and what an operator decided stay. May run twice.
 * @returns rows for `lifecycle.dispatch`, after the commit
 */
export async function subscribeByLink(trx: Trx, key: Buffer, subject: LinkSubject): Promise<OutboxRow[]> {
  const outbox = await setSubscribed(trx, subject, true);
  await liftSuppressions(trx, key, { projectId: subject.projectId, emails: subject.addresses, reasons: OWN_REASONS });
  return outbox;
}

async function setSubscribed(
  trx: Trx,
  { projectId, contactId, mode }: LinkSubject,
  subscribed: boolean,
): Promise<OutboxRow[]> {
  if (contactId === null) return [];
  const { rows } = await sql<SubscriptionState>`
    UPDATE contacts SET subscribed = ${subscribed}, was_unsubscribed = was_unsubscribed OR ${!subscribed}, pending = false, updated_at = now()
    WHERE project_id = ${projectId} AND id = ${contactId}
      AND (subscribed <> ${subscribed} OR ${!subscribed} AND (was_unsubscribed IS NOT TRUE OR pending))
    RETURNING id, subscribed, old.subscribed <> new.subscribed AS "subscriptionChanged"
  `.execute(trx);
  return recordSubscriptionChanges(trx, {
    projectId,
    contacts: rows,
    mode,
    forStranger: false,
    causeId: null,
    by: 'contact',
  });
}

/** That of its campaign, or of what it says. */
async function findTopicOf(
  db: Db,
  { project_id: projectId, email_id: emailId }: SubjectRow,
  contactId: string,
): Promise<LinkSubject['topic']> {
  if (emailId === null) return null;
  const { rows } = await sql<NonNullable<LinkSubject['topic']>>`
    SELECT t.id, t.name, coalesce(s.joined, t.default_subscribed) AS joined
    FROM emails e JOIN contents k ON k.id = e.content_id AND k.project_id = e.project_id AND k.type = 'MARKETING'
    LEFT JOIN campaigns c ON c.id = e.campaign_id AND c.project_id = e.project_id
    JOIN topics t ON t.id = coalesce(c.topic_id, k.topic_id) AND t.project_id = e.project_id
    LEFT JOIN topic_choices s ON s.topic_id = t.id AND s.contact_id = ${contactId}
    WHERE e.id = ${emailId} AND e.project_id = ${projectId}
  `.execute(db);
  return rows[0] ?? null;
}

interface SubjectRow {
  project_id: string;
  project_name: string;
  color: string | null;
  email_id: string | null;
  mode: KeyMode;
  source_type: string | null;
  to_email: string | null;
  contact_id: string | null;
  contact_email: string | null;
  subscribed: boolean | null;
}

/** The signature of the token proves the id, so no project is asked for. */
async function findByEmail(db: Db, id: string): Promise<SubjectRow | undefined> {
  const { rows } = await sql<SubjectRow>`
    SELECT e.project_id, p.name AS project_name, p.color, e.id AS email_id, e.mode, e.source_type, e.to_email,
      c.id AS contact_id, c.email AS contact_email, c.subscribed
    FROM emails e JOIN projects p ON p.id = e.project_id
    LEFT JOIN contacts c ON c.id = e.contact_id AND c.project_id = e.project_id
    WHERE e.id = ${id}
  `.execute(db);
  return rows[0];
}

async function findByContact(db: Db, id: string): Promise<SubjectRow | undefined> {
  const { rows } = await sql<SubjectRow>`
    SELECT c.project_id, p.name AS project_name, p.color, NULL AS email_id, 'live' AS mode, NULL AS source_type, NULL AS to_email,
      c.id AS contact_id, c.email AS contact_email, c.subscribed
    FROM contacts c JOIN projects p ON p.id = c.project_id WHERE c.id = ${id}
  `.execute(db);
  return rows[0];
}
