/**
 * Marks that remain after the erasure of a contact, because links in old emails must work after the address was
 * deleted. Each mark has the keyed hash of the address, like a suppression, and never the address itself.
 */
import { type RawBuilder, sql } from 'kysely';
import { computeAddressHash } from '../../rules/emails/suppression.ts';
import type { Db, Trx } from '../connection.ts';
import { prepared } from '../prepared.ts';
import { storeTopicRefusals } from '../topics/topic-refusals.ts';

interface ContactAddress {
  id: string;
  email: string;
}

interface Marked {
  projectId: string;
  contacts: readonly ContactAddress[];
}

/**
 * Stores hashes of the contacts' addresses, and the topics that the contacts have left. A link in an old email can then
 * still change the consent of the address. Call this function in the transaction that erases the contacts, before their
 * emails lose the address. Safe to run twice.
 * @returns the contacts' addresses, and their former addresses that no contact has now. Omits a former address if only
 * workflow steps with a custom recipient sent to it (see `listFormerAddresses`).
 */
export async function storeErasedAddresses(trx: Trx, key: Buffer, p: Marked): Promise<string[]> {
  const { projectId, contacts } = p;
  const own = contacts.map((contact) => ({ ...contact, hash: computeAddressHash(key, contact.email) }));
  const former = await listFormerAddresses(trx, key, p);
  const links = [...own, ...former];
  await sql`
    WITH links AS (
      SELECT * FROM unnest(${links.map(({ id }) => id)}::uuid[], ${links.map(({ email }) => email)}::text[],
        ${links.map(({ hash }) => hash)}::bytea[]) AS l (contact_id, email, hash)),
    kept AS (
      INSERT INTO erased_contacts (contact_id, address_hash, project_id)
      SELECT * FROM unnest(${own.map(({ id }) => id)}::uuid[], ${own.map(({ hash }) => hash)}::bytea[]), (VALUES (${projectId}::uuid)) AS p
      ON CONFLICT DO NOTHING)
    INSERT INTO erased_emails (email_id, address_hash, project_id, is_recipient, topic_id)
    SELECT e.id, l.hash, e.project_id, l.email = coalesce(lower(e.to_email), c.email),
      CASE WHEN k.type = 'MARKETING' THEN k.topic_id END
    FROM emails e LEFT JOIN contents k ON k.id = e.content_id
    JOIN contacts c ON c.id = e.contact_id
    JOIN links l ON l.contact_id = e.contact_id AND (l.email = lower(e.to_email) OR l.email = c.email AND ${speaksForContact})
    WHERE e.project_id = ${projectId} AND e.contact_id = ANY(${own.map(({ id }) => id)}::uuid[]) AND e.source_type <> 'INBOUND'
    ON CONFLICT DO NOTHING
  `.execute(trx);
  const hashes = sortUniqueHashes(links);
  await sql`
    INSERT INTO erased_addresses AS a (project_id, address_hash, contact_id)
    SELECT ${projectId}, u.hash, c.id
    FROM unnest(${hashes.map(({ hash }) => hash)}::bytea[], ${hashes.map(({ email }) => email)}::text[]) AS u (hash, email)
    LEFT JOIN contacts c ON c.project_id = ${projectId} AND c.email = u.email AND c.id <> ALL (${own.map(({ id }) => id)}::uuid[])
    ORDER BY u.hash
    ON CONFLICT (project_id, address_hash) DO UPDATE SET contact_id = excluded.contact_id
  `.execute(trx);
  await storeTopicRefusals(trx, { projectId, contacts: own });
  const theirs = former.filter(({ isCustom }) => !isCustom).map(({ email }) => email);
  const { rows: free } = await sql<{ email: string }>`
    SELECT DISTINCT u.email FROM unnest(${theirs}::text[]) AS u (email)
    WHERE NOT EXISTS (SELECT FROM contacts c WHERE c.project_id = ${projectId} AND c.email = u.email)
  `.execute(trx);
  return [...own, ...free].map(({ email }) => email);
}

/**
 * SQL condition that the email `e` was sent to its contact `c`, so that links in the email may change the contact's
 * consent. Only a workflow step may send to another recipient than the contact.
 */
const speaksForContact: RawBuilder<boolean> = sql<boolean>`
  (e.source_type <> 'WORKFLOW' OR e.to_email IS NULL OR lower(e.to_email) = c.email)`;

/**
 * Lists the addresses that a contact's emails were sent to and that are not the contact's address now. `isCustom` marks
 * addresses that only got emails of steps with a custom recipient. Such addresses may belong to other people, such as
 * the shop's staff.
 */
async function listFormerAddresses(trx: Trx, key: Buffer, { projectId, contacts }: Marked) {
  const { rows } = await sql<ContactAddress & { isCustom: boolean }>`
    SELECT e.contact_id AS id, lower(e.to_email) AS email, bool_and(EXISTS (
      SELECT FROM execution_steps v JOIN workflow_steps s ON s.id = v.step_id
      WHERE v.execution_id = e.execution_id AND v.visit = e.visit AND s.config->'recipient'->>'type' = 'CUSTOM')) AS "isCustom"
    FROM emails e JOIN contacts c ON c.id = e.contact_id
    WHERE e.project_id = ${projectId} AND e.contact_id = ANY(${contacts.map(({ id }) => id)}::uuid[])
      AND e.source_type <> 'INBOUND' AND lower(e.to_email) <> c.email
    GROUP BY e.contact_id, lower(e.to_email)
  `.execute(trx);
  return rows.map((row) => ({ ...row, hash: computeAddressHash(key, row.email) }));
}

/** Removes duplicates and sorts by hash, so that two erasures lock rows in the same order. */
function sortUniqueHashes<T extends { hash: Buffer }>(links: readonly T[]): T[] {
  const unique = new Map(links.map((link) => [link.hash.toString('hex'), link]));
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, link]) => link);
}

/**
 * Call this function when contacts have got a new address. If an erased contact had the address before, links in the
 * erased contact's emails then change the contact that has the address now. If an earlier contact with this address had
 * left a topic, the contact leaves this topic, even if it has joined the topic since. Uses one statement, because each
 * further statement would cost every request a round trip.
 */
export async function linkEarlierContacts(trx: Trx, key: Buffer, { projectId, contacts }: Marked): Promise<void> {
  if (contacts.length === 0) return;
  const adopted = sortUniqueHashes(contacts.map(({ id, email }) => ({ id, hash: computeAddressHash(key, email) })));
  await prepared`
    WITH adopted AS (
      SELECT * FROM unnest(${adopted.map(({ id }) => id)}::uuid[], ${adopted.map(({ hash }) => hash)}::bytea[]) AS u (id, hash)),
    linked AS (
      UPDATE erased_addresses a SET contact_id = u.id FROM adopted u
      WHERE a.project_id = ${projectId}::uuid AND a.address_hash = u.hash),
    taken AS (
      DELETE FROM topic_refusals r USING adopted u
      WHERE r.project_id = ${projectId}::uuid AND r.address_hash = u.hash RETURNING u.id, r.topic_id)
    INSERT INTO topic_choices (project_id, contact_id, topic_id, joined)
    SELECT ${projectId}::uuid, id, topic_id, false FROM taken ORDER BY id, topic_id
    ON CONFLICT (contact_id, topic_id) DO UPDATE SET joined = false, updated_at = now()
  `.execute(trx);
}

/**
 * Disconnects an address from a contact that gives it up, and stores which topics the contact has left, for the next
 * contact with this address.
 */
export async function storeLeftTopics(
  trx: Trx,
  key: Buffer,
  { projectId, contact }: { projectId: string; contact: ContactAddress },
): Promise<void> {
  const hash = computeAddressHash(key, contact.email);
  await sql`
    UPDATE erased_addresses SET contact_id = NULL WHERE project_id = ${projectId} AND address_hash = ${hash}
  `.execute(trx);
  await storeTopicRefusals(trx, { projectId, contacts: [{ ...contact, hash }] });
}

export interface ErasedAddress {
  projectId: string;
  hash: Buffer;
  /** True for the address that the email was sent to, false for an address that its contact had later. */
  isRecipient: boolean;
  /** The contact who has the address now. */
  contactId: string | null;
}

/**
 * Finds the addresses whose consent a link can change after its email or contact was erased. The address that the email
 * was sent to comes first.
 */
export async function findErasedAddresses(
  db: Db,
  { kind, id }: { kind: 'email' | 'contact'; id: string },
): Promise<ErasedAddress[]> {
  const links =
    kind === 'email'
      ? sql`SELECT project_id, address_hash, is_recipient FROM erased_emails WHERE email_id = ${id}`
      : sql`SELECT project_id, address_hash, true AS is_recipient FROM erased_contacts WHERE contact_id = ${id}`;
  const { rows } = await sql<ErasedAddress>`
    SELECT l.project_id AS "projectId", l.address_hash AS hash, l.is_recipient AS "isRecipient", a.contact_id AS "contactId"
    FROM (${links}) AS l LEFT JOIN erased_addresses a ON a.project_id = l.project_id AND a.address_hash = l.address_hash
    ORDER BY l.is_recipient DESC, l.address_hash
  `.execute(db);
  return rows;
}

/** Lists the ids of the contacts that have one of these addresses now. All addresses are of one project. */
export async function listHoldersOfErasedAddresses(
  db: Db,
  key: Buffer,
  erased: readonly ErasedAddress[],
): Promise<string[]> {
  const ids = erased.flatMap(({ contactId }) => contactId ?? []);
  if (ids.length === 0) return [];
  const { rows } = await sql<ContactAddress>`
    SELECT id, email FROM contacts WHERE id = ANY(${ids}::uuid[]) AND project_id = ${erased[0]?.projectId ?? null} ORDER BY id
  `.execute(db);
  // Ignores a contact that has changed its address in the meantime.
  return rows.flatMap(({ id, email }) =>
    erased.some(({ hash }) => hash.equals(computeAddressHash(key, email))) ? id : [],
  );
}
