import { type RawBuilder, sql } from 'kysely';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import { normalizeEmail } from '../../rules/emails/email-address.ts';
import { AppError } from '../../rules/errors.ts';
import { CONTACT_EVENTS } from '../../rules/events/event-names.ts';
import { applyData, type Data } from '../../rules/filters/data-values.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { Sourced } from '../../rules/strangers/provenance.ts';
import type { Db, Trx } from '../connection.ts';
import { afterCursor, type Page, type PageRequest, toPage } from '../keyset.ts';
import { answeredBytes } from '../page-budget.ts';
import type { RowOf } from '../schema/database.ts';
import { setContactTopics } from '../topics/choices.ts';
import { adoptAddresses, leaveAddress } from './erased-addresses.ts';
import { type ContactsAsked, countFound, foundContacts } from './found.ts';
import { recordSubscriptionChanges } from './subscription-changes.ts';
import { copyRefusals, findSuppressions } from './suppressions.ts';
import { upsertContacts } from './upsert.ts';

export interface Contact {
  id: string;
  email: string;
  subscribed: boolean;
  /** The same in a word; `pending` was asked to confirm it, and is not subscribed until then. */
  subscription: Subscription;
  /** Consent to SMS, apart from `subscribed` (contract §10.3). */
  smsSubscribed: boolean;
  data: Data;
  /** Whether they are on each of the project's topics, by id. */
  topics: Record<string, boolean>;
  createdAt: Date;
  updatedAt: Date;
}

export const SUBSCRIPTIONS = ['subscribed', 'unsubscribed', 'pending'] as const;
export type Subscription = (typeof SUBSCRIPTIONS)[number];

export interface ContactRef {
  projectId: string;
  id: string;
}

export interface SavedContact {
  contact: Contact;
  /** The change subscribed a contact that had refused by itself. */
  resubscribed: boolean;
  /** For `lifecycle.dispatch`, after the commit. */
  outbox: OutboxRow[];
}

/** What `toContact` reads. */
export const CONTACT_COLUMN_NAMES = [
  'id',
  'email',
  'subscribed',
  'pending',
  'sms_subscribed',
  'data',
  'created_at',
  'updated_at',
] as const;
const TOPICS = sql<Record<string, boolean>>`topics_of(contacts.project_id, contacts.id)`.as('topics');
/** The same, and the contact's topics. */
export const CONTACT_FIELD_NAMES = [...CONTACT_COLUMN_NAMES, 'topics'] as const;
export const CONTACT_COLUMNS = sql`${sql.raw(CONTACT_COLUMN_NAMES.join(', '))}, topics_of(contacts.project_id, contacts.id) AS topics`;
/** A page of `contacts` whose rows get their topics once it is cut: an offset passes over many. */
export function withTopics(projectId: string, page: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`SELECT contacts.*, topics_of(${projectId}::uuid, contacts.id) AS topics FROM (${page}) AS contacts`;
}

export type ContactRow = RowOf<'contacts', typeof CONTACT_COLUMN_NAMES> & { topics: Record<string, boolean> };

/** @throws AppError NOT_FOUND (another project's id too) */
export async function getContact(db: Db, { projectId, id }: ContactRef): Promise<Contact> {
  const row = await db
    .selectFrom('contacts')
    .select(CONTACT_COLUMN_NAMES)
    .select(TOPICS)
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst();
  return toContact(row);
}

/**
 * Contacts newest first; `total` is counted on the first page only, and 0 after it (contract §1.6), and not at all with
 * `count: false`. A search that finds nothing reads all of the project: 0.4 s with a million contacts. A trigram index
 * would answer in 6 ms and cost 80 µs at every insert, which is three times what an imported contact costs altogether;
 * so there is none.
 * @throws AppError CONFLICT for a condition with segments in a circle
 */
export async function listContacts(
  db: Db,
  p: PageRequest & ContactsAsked & { projectId: string; count?: boolean | undefined },
): Promise<Page<Contact> & { total: number }> {
  const found = await foundContacts(db, p);
  const counted = p.cursor === undefined && p.count !== false;
  const total = counted ? await countFound(db, found) : 0;
  if (counted && total === 0) return { items: [], cursor: null, hasMore: false, total };
  const { rows } = await sql<ContactRow>`
    SELECT ${CONTACT_COLUMNS} FROM contacts WHERE ${found} AND ${afterCursor(p.cursor)} ORDER BY id DESC LIMIT ${p.limit + 1}
  `.execute(db);
  return { ...toPage(rows, p.limit, toContact, (row) => answeredBytes(row) + answeredBytes(row.data)), total };
}

/** Which of the addresses are contacts; `notFound` has the others as they were given. */
export async function lookupContacts(
  db: Db,
  p: { projectId: string; emails: string[] },
): Promise<{ found: Pick<Contact, 'id' | 'email' | 'subscribed'>[]; notFound: string[] }> {
  const given = new Map(p.emails.map((email) => [normalizeEmail(email), email.trim()]));
  const { rows } = await sql<Pick<Contact, 'id' | 'email' | 'subscribed'>>`
    SELECT id, email, subscribed FROM contacts
    WHERE project_id = ${p.projectId} AND email = ANY(${[...given.keys()]}::text[]) ORDER BY email
  `.execute(db);
  for (const { email } of rows) given.delete(email);
  return { found: rows, notFound: [...given.values()] };
}

/**
 * Changes a contact: address, subscription, data by the value rules. Emits what the change of subscription emits.
 * @throws AppError NOT_FOUND, CONFLICT when another contact has the address, VALIDATION_ERROR for data beyond its
 * limits
 */
export async function patchContact(
  trx: Trx,
  p: ContactRef & {
    email?: string | undefined;
    subscribed?: boolean | undefined;
    /** Whether `subscribed: true` may take back a refusal that the project protects. */
    resubscribe?: boolean | undefined;
    /** A key that is a stranger's stays so, and one that the tenant writes is the tenant's again. */
    data?: Sourced<Data> | undefined;
    /** Whether a stranger brought this change about: then it lifts nobody's refusal. */
    forStranger: boolean;
    mode?: KeyMode;
    /** The execution whose step changes it, if one does. */
    causeId: string | null;
    /** Who changes it, where no execution does: see `recordSubscriptionChanges`. */
    actor?: string;
    suppressionKey: Buffer;
    topics?: Readonly<Record<string, boolean>> | undefined;
  },
): Promise<SavedContact> {
  const { set, remove, errors } = applyData(p.data?.values, p.causeId === null ? 'refuse' : 'keep');
  if (errors.length > 0) throw new AppError('VALIDATION_ERROR', { errors });
  const by = { copied: p.data?.untrusted ?? new Set<string>(), swayed: p.forStranger };
  const current = await lockContact(trx, p);
  const email = p.email === undefined ? current.email : normalizeEmail(p.email);
  const moved = email === current.email ? {} : await changeEmail(trx, p, { current, email });
  const [saved] = await upsertContacts(trx, {
    projectId: p.projectId,
    rows: [{ email, subscribed: moved.subscribed ?? p.subscribed, resubscribe: p.resubscribe, set, remove, by }],
    defaultSubscribed: current.subscribed,
    suppressionKey: p.suppressionKey,
    causeId: p.causeId,
  });
  const outbox = await recordSubscriptionChanges(trx, {
    projectId: p.projectId,
    contacts: saved ? [saved] : [],
    mode: p.mode ?? 'live',
    forStranger: p.forStranger,
    causeId: p.causeId,
    by: p.actor,
  });
  const { projectId, id, topics = {}, mode = 'live' } = p;
  outbox.push(...(await setContactTopics(trx, { projectId, contactId: id, topics, mode })));
  return { contact: await getContact(trx, p), resubscribed: saved?.resubscribed ?? false, outbox };
}

/** Holds the contact until the transaction ends. @throws AppError NOT_FOUND */
async function lockContact(trx: Trx, { projectId, id }: ContactRef): Promise<Contact> {
  const row = await trx
    .selectFrom('contacts')
    .select(CONTACT_COLUMN_NAMES)
    .select(TOPICS)
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  return toContact(row);
}

/**
 * Changes the address, and takes along what belongs to the person: their own refusals. What belongs to the mailbox
 * stays behind: a contact whom only a hard bounce had unsubscribed is subscribed again.
 * @returns the subscription that follows from the new address, where one follows
 */
async function changeEmail(
  trx: Trx,
  p: Pick<Parameters<typeof patchContact>[1], 'projectId' | 'id' | 'subscribed' | 'forStranger' | 'suppressionKey'>,
  { current, email }: { current: Contact; email: string },
): Promise<{ subscribed?: boolean }> {
  const { projectId, id, suppressionKey: key } = p;
  const isBounced = await isUnsubscribedByBounce(trx, key, { projectId, contact: current });
  await setEmail(trx, p, email);
  await leaveAddress(trx, key, { projectId, contact: current });
  await copyRefusals(trx, key, { projectId, from: current.email, to: email });
  await adoptAddresses(trx, key, { projectId, contacts: [{ id, email }] });
  if (p.subscribed !== undefined && !(p.subscribed && p.forStranger)) return {};
  const reasons = (await findSuppressions(trx, key, { projectId, emails: [email] })).get(email) ?? [];
  if (reasons.length > 0) return current.subscribed ? { subscribed: false } : {};
  return isBounced ? { subscribed: true } : {};
}

/** Whether a hard bounce of this address, and nothing that anybody said, has unsubscribed the contact. */
async function isUnsubscribedByBounce(
  trx: Trx,
  key: Buffer,
  { projectId, contact }: { projectId: string; contact: Contact },
): Promise<boolean> {
  if (contact.subscribed) return false;
  const reasons = (await findSuppressions(trx, key, { projectId, emails: [contact.email] })).get(contact.email) ?? [];
  if (!reasons.includes('hard_bounce') || reasons.length > 1) return false;
  const { rows } = await sql<{ bounced: boolean }>`
    SELECT data->>'reason' = 'bounce' AS bounced FROM events
    WHERE project_id = ${projectId} AND contact_id = ${contact.id} AND name = ANY(${[...CONTACT_EVENTS]}::text[])
    ORDER BY id DESC LIMIT 1
  `.execute(trx);
  return rows[0]?.bounced === true;
}

async function setEmail(trx: Trx, { projectId, id }: ContactRef, email: string): Promise<void> {
  try {
    await trx
      .updateTable('contacts')
      .set({ email, updated_at: sql`now()` })
      .where('project_id', '=', projectId)
      .where('id', '=', id)
      .execute();
  } catch (cause) {
    if (!isUniqueViolation(cause)) throw cause;
    throw new AppError('CONFLICT', { message: 'Another contact has this address.', details: { email }, cause });
  }
}

function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23505';
}

export function toContact(row: ContactRow | undefined): Contact {
  if (!row) throw new AppError('NOT_FOUND', { message: 'No contact of this project has this id.' });
  return {
    id: row.id,
    email: row.email,
    subscribed: row.subscribed,
    subscription: row.subscribed ? 'subscribed' : row.pending ? 'pending' : 'unsubscribed',
    smsSubscribed: row.sms_subscribed,
    data: row.data,
    topics: row.topics,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
