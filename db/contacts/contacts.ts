import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { createCursorError, decodeCursor, decodeIdCursor, isUuid } from '../../rules/cursor.ts';
import { normalizeEmail } from '../../rules/emails/email-address.ts';
import { AppError } from '../../rules/errors.ts';
import type { Data } from '../../rules/filters/data-values.ts';
import type { Db, Trx } from '../connection.ts';
import { type Page, type PageRequest, toKeyedPage } from '../keyset.ts';
import { countResponseBytes } from '../page-budget.ts';
import type { RowOf } from '../schema/database.ts';
import { type ContactSelection, contactPredicate, countMatchingContacts } from './contact-search.ts';

export interface Contact {
  id: string;
  email: string;
  subscribed: boolean;
  /**
   * The subscription as one value. A `pending` contact is not subscribed until it confirms the subscription by the link
   * in a confirmation email.
   */
  subscription: Subscription;
  /** Consent to SMS, separate from `subscribed` (contract §10.3 SMS consent). */
  smsSubscribed: boolean;
  data: Data;
  /** Whether the contact has joined each of the project's topics, by topic id. */
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

/** The columns that `toContact` reads. */
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
/** The fields of a row that `toContact` reads: the columns and the contact's topics. */
export const CONTACT_FIELD_NAMES = [...CONTACT_COLUMN_NAMES, 'topics'] as const;
export const CONTACT_COLUMNS = sql`${sql.raw(CONTACT_COLUMN_NAMES.join(', '))}, topics_of(contacts.project_id, contacts.id) AS topics`;
/**
 * Wraps a query of `contacts` with LIMIT and OFFSET, and adds the topics. This way, the topics of rows before the page
 * are not read.
 */
export function selectWithTopics(projectId: string, page: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`SELECT contacts.*, topics_of(${projectId}::uuid, contacts.id) AS topics FROM (${page}) AS contacts`;
}

export type ContactRow = RowOf<'contacts', typeof CONTACT_COLUMN_NAMES> & { topics: Record<string, boolean> };

/**
 * Returns one contact.
 * @throws AppError NOT_FOUND, also for an id of another project
 */
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
 * Returns one contact, and locks it until the transaction ends.
 * @throws AppError NOT_FOUND
 */
export async function lockContact(trx: Trx, { projectId, id }: ContactRef): Promise<Contact> {
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

/** The sort orders for which an index exists: by creation time and by address, each in both directions. */
export const CONTACT_SORTS = ['-createdAt', 'createdAt', 'email', '-email'] as const;
export type ContactSort = (typeof CONTACT_SORTS)[number];

/**
 * Lists contacts, the newest first unless `sort` says otherwise. `total` is counted only on the first page and is 0 on
 * later pages (contract §1.6 Lists); with `count: false` it is not counted.
 * A search without matches reads the whole project. With a million contacts this takes 400 ms if the text has an `@`,
 * because then only addresses are read. A search that also reads names takes two to three times as long. With a trigram
 * index, a search would need 6 ms, but each insert 80 µs more, three times the total cost of importing a contact.
 * Therefore there is no trigram index.
 * @throws AppError CONFLICT for a condition with segments that refer to each other in a cycle; BAD_REQUEST for a cursor
 * of another order
 */
export async function listContacts(
  db: Db,
  p: PageRequest &
    ContactSelection & { projectId: string; count?: boolean | undefined; sort?: ContactSort | undefined },
): Promise<Page<Contact> & { total: number }> {
  const found = await contactPredicate(db, p);
  const counted = p.cursor === undefined && p.count !== false;
  const total = counted ? await countMatchingContacts(db, found) : 0;
  if (counted && total === 0) return { items: [], cursor: null, hasMore: false, total };
  const { rows } = await sql<ContactRow>`
    SELECT ${CONTACT_COLUMNS} FROM contacts WHERE ${found} AND ${isAfterContact(p)} ORDER BY ${ORDERS[p.sort ?? '-createdAt']}
    LIMIT ${p.limit + 1}
  `.execute(db);
  return {
    ...toKeyedPage(rows, {
      limit: p.limit,
      keyOf: ({ id, email }) => (isByAddress(p.sort) ? [email] : [id]),
      map: toContact,
      countBytes: (row) => countResponseBytes(row) + countResponseBytes(row.data),
    }),
    total,
  };
}

/**
 * The ORDER BY for each sort order. Ids are UUIDv7, so they are in the order of creation. Addresses are unique in a
 * project.
 */
const ORDERS: Record<ContactSort, RawBuilder<unknown>> = {
  '-createdAt': sql`id DESC`,
  createdAt: sql`id`,
  email: sql`email`,
  '-email': sql`email DESC`,
};

const isByAddress = (sort: ContactSort | undefined) => sort === 'email' || sort === '-email';

function isAfterContact({
  cursor,
  sort = '-createdAt',
}: {
  cursor?: string | undefined;
  sort?: ContactSort | undefined;
}) {
  if (cursor === undefined) return sql<SqlBool>`true`;
  const isUp = !sort.startsWith('-');
  if (!isByAddress(sort)) return sql<SqlBool>`id ${sql.raw(isUp ? '>' : '<')} ${decodeIdCursor(cursor)}::uuid`;
  const [email] = decodeCursor(cursor, 1);
  if (typeof email !== 'string' || isUuid(email)) throw createCursorError();
  return sql<SqlBool>`email ${sql.raw(isUp ? '>' : '<')} ${email}`;
}

/**
 * Finds the contacts with these addresses. `notFound` has the addresses without a contact, as the caller wrote them
 * except for spaces at both ends.
 */
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
