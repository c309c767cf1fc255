import { sql } from 'kysely';
import {
  type ContactChange,
  type ContactUpsert,
  type ExistingContact,
  findContactChange,
  isUntrustedWrite,
  listUntrustedKeys,
  mergeByEmail,
} from '../../rules/contacts/change.ts';
import { type StoredData, selectPublicData, splitByWriter } from '../../rules/contacts/public-data.ts';
import { normalizeEmail } from '../../rules/emails/email-address.ts';
import { AppError } from '../../rules/errors.ts';
import type { ContactEvent } from '../../rules/events/event-names.ts';
import { checkData, type Data } from '../../rules/filters/data-values.ts';
import { markUntrusted, type Sourced } from '../../rules/provenance/provenance.ts';
import type { Trx } from '../connection.ts';
import { isOwnedBySql } from '../owned-by.ts';
import { prepared } from '../prepared.ts';
import type { RowOf } from '../schema/database.ts';
import { PHONE_KEY, storePhones } from '../sms/contact-phones.ts';
import { requestConfirmations, usesDoubleOptIn } from './double-opt-in.ts';
import { linkEarlierContacts } from './erased-addresses.ts';
import { lockContacts } from './locks.ts';
import { findRefusals, findSuppressions, liftSuppressions, needsResubscribe } from './suppressions.ts';

/** Most calls have one row. Imports, bulk jobs, and sends to many recipients can have more rows than this number. */
const MANY_ROWS = 200;

/** The actor of events that a caller with the public key caused. */
export const PUBLIC_ACTOR = 'public';
const UNSUBSCRIBED_EVENT: ContactEvent = 'contact.unsubscribed';
const NOTHING: StoredData = { data: {}, untrustedKeys: [] };
const STORED_COLUMNS = sql`
  c.id, c.email, c.subscribed, c.data, c.untrusted_keys, c.was_unsubscribed, c.pending, c.created_at, c.updated_at`;

export interface UpsertContacts {
  projectId: string;
  /** Rows in any number and order. Rows with the same address are applied one after the other. */
  rows: ContactUpsert[];
  defaultSubscribed: boolean;
  /** Key of the suppression list, derived from SECRET_KEY. */
  suppressionKey: Buffer;
  /** False for an import: `subscribed: true` then deletes no suppression and does not subscribe suppressed contacts. */
  liftsUnsubscribe?: boolean;
  /**
   * The execution whose step changes the contacts; null for other causes. The id of the execution is stored with the
   * changed contacts. Later effects of the change, such as entering a segment, record this execution as their cause.
   */
  causeId: string | null;
}

export interface UpsertedContact {
  id: string;
  email: string;
  /** True only on the first row of an address, if the contact was created. */
  isNew: boolean;
  subscribed: boolean;
  /**
   * True if the subscription of an existing contact changed. If several rows have the same address, only the last one
   * can be true.
   */
  subscriptionChanged: boolean;
  /**
   * True if the call subscribed a contact that had refused by a complaint, or on a consent page. If several rows have
   * the same address, only the last one can be true.
   */
  resubscribed: boolean;
  data: Sourced<Data>;
  createdAt: Date;
  updatedAt: Date;
}

/**
 * Creates or updates contacts by address. Needs only a few statements for any number of rows: one finds existing
 * contacts, one inserts missing contacts, one updates changed contacts. Locks existing contacts in the order of their
 * ids, and inserts new contacts in the order of their addresses, so that two such transactions wait instead of
 * deadlocking. Deadlocks are still possible, so call this function in `inTransaction`, which retries after a deadlock.
 * Existing contacts stay locked against deletion until the transaction ends. The caller records the events of
 * subscription changes (`recordSubscriptionChanges`). Source: contract §2, §3, §9, docs/decisions.md.
 * @returns one result per row, in the order of `rows`
 * @throws AppError VALIDATION_ERROR when the data of a contact would exceed its limits; the caller must then roll back
 */
export async function upsertContacts(trx: Trx, p: UpsertContacts): Promise<UpsertedContact[]> {
  const wanted = mergeByEmail(p.rows);
  const known = await lockExistingContacts(trx, { projectId: p.projectId, wanted });
  const asking = await keepUnsubscribedUntilConfirmed(trx, p, wanted, known);
  const resubscribed = await settleSubscriptions(trx, p, wanted, known);
  const inserted = await insertMissing(
    trx,
    p,
    [...wanted.values()].filter((row) => !known.has(row.email)),
  );
  const added = inserted.filter((contact) => contact.isNew);
  await linkEarlierContacts(trx, p.suppressionKey, { projectId: p.projectId, contacts: added });
  // If a concurrent transaction inserted the same address first, the INSERT returns that transaction's row, locked by
  // this one. Such a contact counts as existing.
  for (const contact of inserted) if (!contact.isNew) known.set(contact.email, contact);
  const changes = [...wanted.values()].flatMap((row) => {
    const contact = known.get(row.email);
    return (contact && findContactChange(row, contact)) ?? [];
  });
  // Takes the locks in the order of ids before the first write, because the UPDATE changes rows in no fixed order.
  if (wanted.size <= MANY_ROWS && changes.length > 1)
    await lockContacts(trx, { projectId: p.projectId, ids: changes.map(idOf) });
  const updated = await updateChanged(trx, changes, p.causeId);
  await keepHistories(trx, { projectId: p.projectId, changes, known });
  const results = new Map([...known.values(), ...inserted, ...updated].map((contact) => [contact.email, contact]));
  for (const contact of updated) refuseTooMuch(contact, wanted.get(contact.email));
  await updatePhones(trx, p, [...wanted.values()], results);
  const contactIds = asking.flatMap((email) => results.get(email)?.id ?? []);
  await requestConfirmations(trx, { projectId: p.projectId, contactIds });
  return toResultsInOrder(p.rows, results, resubscribed);
}

interface StoredContact extends Omit<UpsertedContact, 'data'>, ExistingContact {
  data: Data;
}

async function lockExistingContacts(
  trx: Trx,
  p: { projectId: string; wanted: Map<string, ContactUpsert> },
): Promise<Map<string, StoredContact>> {
  const emails = [...p.wanted.keys()];
  // KEY SHARE: a deletion waits for this transaction and then sees its changes, while other updates do not wait. With
  // many rows, most of them change; locking them for an update at once saves a third of the writes. The limits for
  // untrusted callers depend on the current values, which must not change in the meantime. If one row is from an
  // untrusted caller, all rows are therefore locked for an update too. The ids are found address by address, because
  // this plan does not read the whole project (see `isOwnedBySql`). The address of the locked row is compared again,
  // because the address may have changed before the lock.
  const isLimited = [...p.wanted.values()].some((row) => isUntrustedWrite(row) && hasChanges(row));
  const strength = sql.raw(isLimited || emails.length > MANY_ROWS ? 'NO KEY UPDATE' : 'KEY SHARE');
  const { rows } = await prepared<ContactRow>`
    SELECT ${STORED_COLUMNS}, false AS is_new, false AS changed
    FROM contacts c WHERE id = ANY(ARRAY(
      SELECT found.id FROM unnest(${emails}::text[]) AS wanted (email)
      CROSS JOIN LATERAL (SELECT id FROM contacts WHERE project_id = ${p.projectId} AND email = wanted.email LIMIT 1) AS found))
      AND c.email = ANY(${emails}::text[]) AND ${isOwnedBySql('project_id', p.projectId)}
    ORDER BY id FOR ${strength}
  `.execute(trx);
  return new Map(rows.map((row) => [row.email, toStored(row)]));
}

/**
 * Applies double opt-in to the rows. If the project uses double opt-in, untrusted callers, and steps that such callers
 * trigger, cannot subscribe a contact: the contact stays unsubscribed. Returns the addresses that get a confirmation
 * email.
 */
async function keepUnsubscribedUntilConfirmed(
  trx: Trx,
  p: UpsertContacts,
  wanted: Map<string, ContactUpsert>,
  known: Map<string, StoredContact>,
): Promise<string[]> {
  const asking = [...wanted.values()].filter(
    (row) => isUntrustedWrite(row) && wouldSubscribe(row, known.get(row.email), p),
  );
  if (asking.length === 0 || !(await usesDoubleOptIn(trx, p.projectId))) return [];
  for (const row of asking) wanted.set(row.email, { ...row, subscribed: known.has(row.email) ? undefined : false });
  return asking.map((row) => row.email);
}

/**
 * Applies suppressions to the rows. `subscribed: true` from a trusted writer deletes the suppression with the reason
 * `unsubscribe`. If the contact refused by a complaint or on a consent page, and the project protects such refusals,
 * the row also needs `resubscribe`. All other rows respect a suppression: they do not subscribe an existing contact,
 * and a new contact is not subscribed.
 * @returns the addresses of contacts that had refused in this way, and whose refusal a row has ended or overridden
 */
async function settleSubscriptions(
  trx: Trx,
  p: UpsertContacts,
  wanted: Map<string, ContactUpsert>,
  known: Map<string, StoredContact>,
): Promise<Set<string>> {
  const { projectId, suppressionKey } = p;
  const asksToSubscribe = (row: ContactUpsert) =>
    row.subscribed === true && (p.liftsUnsubscribe ?? true) && !isUntrustedWrite(row);
  const asking = [...wanted.values()].filter(asksToSubscribe).map((row) => row.email);
  const refusals = await findRefusals(trx, suppressionKey, { projectId, emails: asking });
  const keepsUnsubscribed = ({ email, resubscribe }: ContactUpsert) => {
    const refusal = refusals.get(email);
    return refusal !== undefined && needsResubscribe(refusal) && resubscribe !== true;
  };
  const liftsSuppression = (row: ContactUpsert) => asksToSubscribe(row) && !keepsUnsubscribed(row);
  const lifted = [...wanted.values()]
    .filter((row) => liftsSuppression(row) && refusals.has(row.email))
    .map((row) => row.email);
  await liftSuppressions(trx, suppressionKey, { projectId, emails: lifted, reasons: ['unsubscribe'] });
  const subscribing = [...wanted.values()].filter(
    (row) => !liftsSuppression(row) && wouldSubscribe(row, known.get(row.email), p),
  );
  const refused = await findSuppressions(trx, suppressionKey, {
    projectId,
    emails: subscribing.map((row) => row.email),
  });
  for (const email of refused.keys()) {
    const row = wanted.get(email);
    if (row) wanted.set(email, { ...row, subscribed: known.has(email) ? undefined : false });
  }
  const untrusted = subscribing.filter((row) => isUntrustedWrite(row) && !refused.has(row.email));
  await settleHistories(trx, { projectId, contacts: untrusted.flatMap((row) => known.get(row.email) ?? []) });
  return new Set(lifted.filter((email) => refusals.get(email)?.isOwn));
}

/**
 * For contacts whose `was_unsubscribed` is null, finds out whether they were ever unsubscribed in another way than with
 * the public key, and stores the result. Reads the contacts' events. The caller has locked the contacts.
 */
async function settleHistories(trx: Trx, p: { projectId: string; contacts: StoredContact[] }): Promise<void> {
  const unknown = new Map(p.contacts.filter((one) => one.wasUnsubscribed === null).map((one) => [one.id, one]));
  if (unknown.size === 0) return;
  const { rows } = await sql<{ id: string; was_unsubscribed: boolean }>`
    UPDATE contacts c SET was_unsubscribed = EXISTS (
      SELECT FROM events e
      WHERE e.project_id = ${p.projectId} AND e.name = ${UNSUBSCRIBED_EVENT} AND e.contact_id = c.id
        AND e.actor IS DISTINCT FROM ${PUBLIC_ACTOR})
    WHERE c.id = ANY(${[...unknown.keys()]}::uuid[]) AND ${isOwnedBySql('c.project_id', p.projectId)}
    RETURNING c.id, c.was_unsubscribed
  `.execute(trx);
  for (const row of rows) {
    const contact = unknown.get(row.id);
    if (contact) contact.wasUnsubscribed = row.was_unsubscribed;
  }
}

/**
 * Resets `was_unsubscribed` of contacts that a caller with the public key has just unsubscribed. The database trigger
 * has set the column, but a contact that only such a caller has unsubscribed may be subscribed again with the public
 * key.
 */
async function keepHistories(
  trx: Trx,
  p: { projectId: string; changes: ContactChange[]; known: ReadonlyMap<string, StoredContact> },
): Promise<void> {
  const ids = new Set(
    p.changes.flatMap((change) => (change.isVisitors && change.subscribed === false ? change.id : [])),
  );
  const kept = [...p.known.values()].filter((contact) => ids.has(contact.id) && contact.wasUnsubscribed !== true);
  if (kept.length === 0) return;
  await sql`
    UPDATE contacts c SET was_unsubscribed = u.was
    FROM unnest(${kept.map(({ id }) => id)}::uuid[], ${kept.map((contact) => contact.wasUnsubscribed)}::bool[]) AS u (id, was)
    WHERE c.id = u.id AND ${isOwnedBySql('c.project_id', p.projectId)}
  `.execute(trx);
}

function wouldSubscribe(row: ContactUpsert, known: StoredContact | undefined, p: UpsertContacts): boolean {
  return known ? row.subscribed === true && !known.subscribed : startsSubscribed(row, p);
}

function startsSubscribed(row: ContactUpsert, p: UpsertContacts): boolean {
  return row.subscribed ?? row.subscribedIfNew ?? p.defaultSubscribed;
}

async function insertMissing(trx: Trx, p: UpsertContacts, wanted: ContactUpsert[]): Promise<StoredContact[]> {
  if (wanted.length === 0) return [];
  const rows = wanted.map((row) =>
    row.by === 'unauthenticated' ? { ...row, set: selectPublicData(NOTHING, row.set) } : row,
  );
  for (const row of rows) refuseTooMuch({ data: row.set, untrustedKeys: listUntrustedKeys(row) }, row);
  // DO UPDATE instead of DO NOTHING: if a concurrent transaction inserted the address first, the statement returns and
  // locks that transaction's row (docs/decisions.md).
  const { rows: inserted } = await prepared<ContactRow>`
    INSERT INTO contacts AS c (project_id, email, subscribed, data, untrusted_keys)
    SELECT ${p.projectId}, i.email, i.subscribed, i.data::jsonb, i.untrusted::text[]
    FROM unnest(${rows.map((row) => row.email)}::text[], ${rows.map((row) => startsSubscribed(row, p))}::bool[],
      ${rows.map((row) => JSON.stringify(row.set))}::text[],
      ${rows.map((row) => toArrayLiteral(listUntrustedKeys(row)))}::text[])
      AS i (email, subscribed, data, untrusted)
    ORDER BY i.email
    ON CONFLICT (project_id, email) DO UPDATE SET email = excluded.email
    RETURNING ${STORED_COLUMNS},
      old.id IS NULL AS is_new, false AS changed
  `.execute(trx);
  return inserted.map(toStored);
}

async function updateChanged(trx: Trx, changes: ContactChange[], causeId: string | null): Promise<StoredContact[]> {
  if (changes.length === 0) return [];
  // The statement merges the new data with the newest version of the row, so that two concurrent requests are both
  // applied.
  const { rows } = await prepared<ContactRow>`
    WITH i AS (
      SELECT * FROM unnest(${changes.map((c) => c.id)}::uuid[], ${changes.map((c) => c.subscribed ?? null)}::bool[],
        ${changes.map((c) => JSON.stringify(c.set))}::text[], ${changes.map((c) => toArrayLiteral(c.remove))}::text[],
        ${changes.map((c) => toArrayLiteral(c.distrust))}::text[], ${changes.map((c) => toArrayLiteral(c.trust))}::text[],
        ${changes.map((c) => c.refuses)}::bool[]) AS u (id, subscribed, set_data, remove, distrust, trust, refuses)
    )
    UPDATE contacts c SET
      subscribed = coalesce(i.subscribed, c.subscribed), was_unsubscribed = c.was_unsubscribed OR i.refuses,
      pending = c.pending AND i.subscribed IS NULL,
      confirmation_asked_at = CASE WHEN i.refuses THEN NULL ELSE c.confirmation_asked_at END,
      data = (c.data - i.remove::text[]) || i.set_data::jsonb,
      untrusted_keys = CASE WHEN c.untrusted_keys = '{}' AND i.distrust = '{}' THEN c.untrusted_keys ELSE ARRAY(
        SELECT DISTINCT k FROM unnest(c.untrusted_keys || i.distrust::text[]) AS k WHERE k <> ALL (i.trust::text[])) END,
      changed_by = ${causeId}::uuid, updated_at = now()
    FROM i WHERE c.id = i.id
    RETURNING ${STORED_COLUMNS},
      false AS is_new, old.subscribed <> new.subscribed AS changed
  `.execute(trx);
  return rows.map(toStored);
}

/**
 * Updates the normalized phone number of each contact whose `phone` was written, and applies the SMS stops of that
 * number. A number without a country code belongs to the project's country. Needs no statement if no row writes a
 * phone.
 */
async function updatePhones(
  trx: Trx,
  p: UpsertContacts,
  wanted: readonly ContactUpsert[],
  results: ReadonlyMap<string, StoredContact>,
): Promise<void> {
  const writing = wanted.filter(({ set, remove }) => PHONE_KEY in set || remove.includes(PHONE_KEY));
  const contacts = writing.flatMap(({ email }) => {
    const contact = results.get(email);
    return contact ? [{ id: contact.id, written: contact.data[PHONE_KEY] }] : [];
  });
  await storePhones(trx, p.suppressionKey, { projectId: p.projectId, contacts });
}

const idOf = (change: ContactChange): string => change.id;

function hasChanges({ subscribed, set, remove }: ContactUpsert): boolean {
  return subscribed !== undefined || Object.keys(set).length + remove.length > 0;
}

/**
 * Throws if the data of a contact would exceed a limit. Only counts data that the project wrote, so that untrusted data
 * cannot make the project's writes fail. If the writer is a `visitor`, or a step that copies untrusted values, the
 * untrusted data must not exceed the limits either. This data is counted separately.
 */
function refuseTooMuch(contact: StoredData, row: ContactUpsert | undefined): void {
  const { own, untrusted } = splitByWriter(contact);
  const errors = [...checkData(own), ...(addsUntrustedData(row) ? checkData(untrusted) : [])];
  if (errors.length > 0) throw new AppError('VALIDATION_ERROR', { errors });
}

function addsUntrustedData(row: ContactUpsert | undefined): boolean {
  return row?.by === 'visitor' || (typeof row?.by === 'object' && row.by.copied.size > 0);
}

function toResultsInOrder(
  rows: ContactUpsert[],
  results: Map<string, StoredContact>,
  resubscribed: ReadonlySet<string>,
): UpsertedContact[] {
  const lastOf = new Map(rows.map((row, index) => [normalizeEmail(row.email), index]));
  const seen = new Set<string>();
  return rows.map((row, index) => {
    const stored = results.get(normalizeEmail(row.email));
    if (!stored) throw new Error('an upserted contact is missing from its own result');
    const { data, untrustedKeys, wasUnsubscribed: _, pending: __, ...contact } = stored;
    const first = !seen.has(contact.email);
    seen.add(contact.email);
    return {
      ...contact,
      data: markUntrusted(data, untrustedKeys),
      isNew: contact.isNew && first,
      subscriptionChanged: contact.subscriptionChanged && lastOf.get(contact.email) === index,
      resubscribed: contact.subscribed && resubscribed.has(contact.email) && lastOf.get(contact.email) === index,
    };
  });
}

type StoredColumns = [
  'id',
  'email',
  'subscribed',
  'data',
  'untrusted_keys',
  'was_unsubscribed',
  'pending',
  'created_at',
  'updated_at',
];

type ContactRow = RowOf<'contacts', StoredColumns> & { is_new: boolean; changed: boolean };

function toStored(row: ContactRow): StoredContact {
  return {
    id: row.id,
    email: row.email,
    isNew: row.is_new,
    subscribed: row.subscribed,
    subscriptionChanged: row.changed,
    resubscribed: false,
    data: row.data,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    untrustedKeys: row.untrusted_keys,
    wasUnsubscribed: row.was_unsubscribed,
    pending: row.pending,
  };
}

/** Formats a Postgres array as text. `unnest` cannot take arrays of different lengths as an array of arrays. */
function toArrayLiteral(values: string[]): string {
  return `{${values.map((value) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`).join()}}`;
}
