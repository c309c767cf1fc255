/**
 * Reads and changes consent for the links of the consent pages. A refusal belongs to the address, not to the contact. A
 * link therefore changes its addresses and the contacts that have these addresses now, even after the contact of the
 * link was erased.
 */
import { sql } from 'kysely';
import { markFiguresStaleSql } from '../../db/campaigns/stale-figures.ts';
import type { Db, Trx } from '../../db/connection.ts';
import { findErasedAddresses } from '../../db/contacts/erased-addresses.ts';
import { lockContacts } from '../../db/contacts/locks.ts';
import {
  addSuppressions,
  CONSENT_PAGE_SOURCE,
  type HashedAddress,
  liftSuppressionsByHash,
  listSuppressionReasons,
  REFUSAL_REASONS,
} from '../../db/contacts/suppressions.ts';
import { hasNoTopicRefusalSql, setTopicRefusals } from '../../db/topics/topic-refusals.ts';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { TokenSubject } from '../../rules/content/link-tokens.ts';
import { normalizeEmail } from '../../rules/emails/email-address.ts';
import { computeAddressHash } from '../../rules/emails/suppression.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { recordSubscriptionChanges, type SubscriptionState } from './subscription-changes.ts';
import { setContactTopics } from './topic-choices.ts';

/** The person that a consent link identifies: the reader of one email, or a contact. */
export interface LinkSubject {
  projectId: string;
  projectName: string;
  color: string | null;
  /** The email that contained the link; null for a link that was created without an email. */
  emailId: string | null;
  mode: KeyMode;
  /** The contacts to change. The pages show the settings of the first contact. Empty if no contact is left. */
  contactIds: string[];
  /** The addresses to change. The first one is the address that got the email. Empty if no address is stored. */
  addresses: HashedAddress[];
  /** The hashes of those addresses that no contact has now, such as a former address of the contact. */
  vacant: Buffer[];
  /**
   * Whether the person gets marketing. All contacts of `contactIds` must be subscribed, and `addresses` must have at
   * least one address. No address may be suppressed because of an unsubscription or a complaint. Hard bounces and
   * suppressions by an operator do not count.
   */
  subscribed: boolean;
  /** The topic of the email, if it has one. */
  topic: { id: string; name: string; joined: boolean } | null;
}

/**
 * Finds the person of a consent link. Undefined if the email or contact does not exist, and no hash of its address is
 * stored.
 */
export async function findLinkSubject(db: Db, key: Buffer, token: TokenSubject): Promise<LinkSubject | undefined> {
  const erased = await findErasedAddresses(db, token);
  const row = token.kind === 'email' ? await findByEmail(db, token.id) : await findByContact(db, token.id);
  const project = row ?? (erased[0] && (await findSubjectOfErased(db, erased[0].projectId)));
  if (!project) return undefined;
  const { project_id: projectId } = project;
  const addresses = listAddresses(key, project, erased);
  const contacts = await findLinkContacts(db, key, { projectId, row: project, addresses, erased });
  const contactIds = contacts.map(({ id }) => id);
  const contactHashes = new Set(contacts.map(({ email }) => computeAddressHash(key, email).toString('hex')));
  const reasons = await listSuppressionReasons(db, { projectId, hashes: addresses.map(({ hash }) => hash) });
  const isRefused = reasons.some((reason) => REFUSAL_REASONS.includes(reason));
  return {
    projectId,
    projectName: project.project_name,
    color: project.color,
    emailId: project.email_id,
    mode: project.mode,
    contactIds,
    addresses,
    vacant: addresses.flatMap(({ hash }) => (contactHashes.has(hash.toString('hex')) ? [] : [hash])),
    topic: await findTopic(db, project, { contactId: contactIds[0], addresses }),
    subscribed: addresses.length > 0 && !isRefused && contacts.every(({ subscribed }) => subscribed),
  };
}

/**
 * Runs a change for the person of a link in the caller's transaction, with the contacts locked. Reads the person again
 * after taking the locks. A concurrent erasure or creation of a contact has then either committed, so that this change
 * sees its result, or it waits for this transaction.
 */
export async function runForLinkSubject(
  trx: Trx,
  key: Buffer,
  p: { token: TokenSubject; change: (trx: Trx, subject: LinkSubject) => Promise<OutboxRow[]> },
): Promise<OutboxRow[]> {
  const before = await findLinkSubject(trx, key, p.token);
  if (before) await lockContacts(trx, { projectId: before.projectId, ids: before.contactIds });
  const subject = await findLinkSubject(trx, key, p.token);
  return subject ? p.change(trx, subject) : [];
}

/**
 * Records that the person wants no more marketing: suppresses the addresses, unsubscribes the contacts with their
 * event, and marks the email as unsubscribed. Safe to run twice; the second run changes nothing. Source: RFC 8058 §3.1,
 * contract §9.3 Links.
 * @returns the rows to pass to `outbox.wake` after the commit
 */
export async function unsubscribeByLink(trx: Trx, key: Buffer, subject: LinkSubject): Promise<OutboxRow[]> {
  await addSuppressions(trx, key, {
    projectId: subject.projectId,
    entries: subject.addresses.map(({ hash, email }) => ({
      email: email ?? { hash },
      reason: 'unsubscribe',
      source: CONSENT_PAGE_SOURCE,
      actor: 'contact',
    })),
  });
  const outbox = await setSubscribed(trx, subject, false);
  await noteUnsubscribed(trx, subject);
  return outbox;
}

/**
 * Records that the person wants no more email about the topic of this email, and marks the email as unsubscribed. Safe
 * to run twice.
 * @returns the rows to pass to `outbox.wake` after the commit
 */
export async function leaveTopicByLink(trx: Trx, subject: LinkSubject): Promise<OutboxRow[]> {
  if (!subject.topic) return [];
  const outbox = await setTopicsByLink(trx, subject, { [subject.topic.id]: false });
  await noteUnsubscribed(trx, subject);
  return outbox;
}

/**
 * Stores the person's choice of topics on the contacts. If no contact has the address now, the choice is stored for the
 * next contact with this address. Safe to run twice.
 * @returns the rows to pass to `outbox.wake` after the commit
 */
export async function setTopicsByLink(
  trx: Trx,
  { projectId, contactIds, vacant, mode }: LinkSubject,
  topics: Readonly<Record<string, boolean>>,
): Promise<OutboxRow[]> {
  const outbox: OutboxRow[] = [];
  for (const contactId of contactIds)
    outbox.push(...(await setContactTopics(trx, { projectId, contactId, topics, mode })));
  if (vacant.length > 0) await setTopicRefusals(trx, { projectId, hashes: vacant, topics });
  return outbox;
}

async function noteUnsubscribed(trx: Trx, { projectId, emailId }: LinkSubject): Promise<void> {
  if (emailId === null) return;
  await sql`
    WITH noted AS (
      UPDATE emails SET unsubscribed_at = now()
      WHERE project_id = ${projectId} AND id = ${emailId} AND unsubscribed_at IS NULL RETURNING id, campaign_id, project_id)
    ${markFiguresStaleSql(sql`SELECT * FROM noted`)}
  `.execute(trx);
}

/**
 * Records that the person wants marketing again: subscribes the contacts with their event, and deletes the suppressions
 * that result from the person's refusals. Suppressions by a hard bounce or by an operator stay. Safe to run twice.
 * @returns the rows to pass to `outbox.wake` after the commit
 */
export async function subscribeByLink(trx: Trx, subject: LinkSubject): Promise<OutboxRow[]> {
  const hashes = subject.addresses.map(({ hash }) => hash);
  await liftSuppressionsByHash(trx, { projectId: subject.projectId, hashes, reasons: REFUSAL_REASONS });
  return setSubscribed(trx, subject, true);
}

async function setSubscribed(
  trx: Trx,
  { projectId, contactIds, mode }: LinkSubject,
  subscribed: boolean,
): Promise<OutboxRow[]> {
  if (contactIds.length === 0) return [];
  const { rows } = await sql<SubscriptionState>`
    UPDATE contacts SET subscribed = ${subscribed}, was_unsubscribed = was_unsubscribed OR ${!subscribed}, pending = false,
      confirmation_asked_at = CASE WHEN ${subscribed} THEN confirmation_asked_at END, updated_at = now()
    WHERE project_id = ${projectId} AND id = ANY(${contactIds}::uuid[])
      AND (subscribed <> ${subscribed} OR ${!subscribed} AND (was_unsubscribed IS NOT TRUE OR pending))
    RETURNING id, subscribed, old.subscribed <> new.subscribed AS "subscriptionChanged"
  `.execute(trx);
  return recordSubscriptionChanges(trx, {
    projectId,
    contacts: rows,
    mode,
    untrustedTrigger: false,
    causeId: null,
    by: 'contact',
  });
}

/**
 * Lists the addresses of a link without duplicates: first the known addresses, then the erased addresses, which are
 * stored only as hashes.
 */
function listAddresses(key: Buffer, row: SubjectRow, erased: readonly { hash: Buffer }[]): HashedAddress[] {
  const known = [row.to_email, isToOtherAddress(row) ? null : row.contact_email].flatMap((email) =>
    email === null ? [] : [{ hash: computeAddressHash(key, email), email: normalizeEmail(email) }],
  );
  const all = [...known, ...erased.map(({ hash }) => ({ hash, email: null }))];
  const firsts = new Set(new Map(all.map(({ hash }, n) => [hash.toString('hex'), n] as const).reverse()).values());
  return all.filter((_, n) => firsts.has(n));
}

/**
 * Tells whether a workflow step sent the email to another address than the contact's current address. Such an address
 * may belong to another person, so the link changes only the address, and not the contact.
 */
function isToOtherAddress(row: SubjectRow): boolean {
  return row.source_type === 'WORKFLOW' && row.to_email !== null && row.to_email !== row.contact_email;
}

interface Holder {
  id: string;
  email: string;
  subscribed: boolean;
}

/** Finds the contact of the link, and then the contacts that have one of the addresses now. */
async function findLinkContacts(
  db: Db,
  key: Buffer,
  p: {
    projectId: string;
    row: SubjectRow;
    addresses: readonly HashedAddress[];
    erased: readonly { contactId: string | null }[];
  },
): Promise<Holder[]> {
  const linkContactId = isToOtherAddress(p.row) ? null : p.row.contact_id;
  const emails = p.addresses.flatMap(({ email }) => email ?? []);
  const linked = p.erased.flatMap(({ contactId }) => contactId ?? []);
  if (linkContactId === null && emails.length + linked.length === 0) return [];
  const { rows } = await sql<Holder>`
    SELECT id, email, subscribed FROM contacts
    WHERE project_id = ${p.projectId} AND (id = ${linkContactId} OR email = ANY(${emails}::text[]) OR id = ANY(${linked}::uuid[]))
    ORDER BY id IS NOT DISTINCT FROM ${linkContactId}::uuid DESC, id
  `.execute(db);
  const linkHashes = new Set(p.addresses.map(({ hash }) => hash.toString('hex')));
  return rows.filter(
    ({ id, email }) => id === linkContactId || linkHashes.has(computeAddressHash(key, email).toString('hex')),
  );
}

/**
 * Reads the topic of the email's campaign. If the email has no campaign with a topic, reads the topic of its content,
 * or the topic that was stored when the recipient was erased.
 */
async function findTopic(
  db: Db,
  { project_id: projectId, email_id: emailId }: SubjectRow,
  { contactId, addresses }: { contactId: string | undefined; addresses: readonly HashedAddress[] },
): Promise<LinkSubject['topic']> {
  if (emailId === null || addresses.length === 0) return null;
  const isUnrefused = hasNoTopicRefusalSql(addresses.map(({ hash }) => hash));
  const { rows } = await sql<NonNullable<LinkSubject['topic']>>`
    SELECT t.id, t.name, coalesce(s.joined, t.default_subscribed AND (${contactId !== undefined} OR ${isUnrefused})) AS joined
    FROM emails e LEFT JOIN contents k ON k.id = e.content_id AND k.project_id = e.project_id AND k.type = 'MARKETING'
    LEFT JOIN campaigns c ON c.id = e.campaign_id AND c.project_id = e.project_id
    LEFT JOIN erased_emails d ON d.email_id = e.id AND d.is_recipient
    JOIN topics t ON t.id = coalesce(c.topic_id, k.topic_id, d.topic_id) AND t.project_id = e.project_id
    LEFT JOIN topic_choices s ON s.topic_id = t.id AND s.contact_id = ${contactId ?? null}
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
}

/**
 * Finds the person of a link by the email. Needs no project id, because the signed token of the link proves that the
 * email id is genuine.
 */
async function findByEmail(db: Db, id: string): Promise<SubjectRow | undefined> {
  const { rows } = await sql<SubjectRow>`
    SELECT e.project_id, p.name AS project_name, p.color, e.id AS email_id, e.mode, e.source_type, e.to_email,
      c.id AS contact_id, c.email AS contact_email
    FROM emails e JOIN projects p ON p.id = e.project_id
    LEFT JOIN contacts c ON c.id = e.contact_id AND c.project_id = e.project_id
    WHERE e.id = ${id}
  `.execute(db);
  return rows[0];
}

async function findByContact(db: Db, id: string): Promise<SubjectRow | undefined> {
  const { rows } = await sql<SubjectRow>`
    SELECT c.project_id, p.name AS project_name, p.color, NULL AS email_id, 'live' AS mode, NULL AS source_type, NULL AS to_email,
      c.id AS contact_id, c.email AS contact_email
    FROM contacts c JOIN projects p ON p.id = c.project_id WHERE c.id = ${id}
  `.execute(db);
  return rows[0];
}

/** Returns the project of a link whose email and contact have no row any more; all fields of the person are null. */
async function findSubjectOfErased(db: Db, projectId: string): Promise<SubjectRow | undefined> {
  const { rows } = await sql<SubjectRow>`
    SELECT id AS project_id, name AS project_name, color, NULL AS email_id, 'live' AS mode, NULL AS source_type, NULL AS to_email,
      NULL AS contact_id, NULL AS contact_email
    FROM projects WHERE id = ${projectId}
  `.execute(db);
  return rows[0];
}
