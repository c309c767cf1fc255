import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { normalizeEmail } from '../../rules/emails/email-address.ts';
import type { Db } from '../connection.ts';
import type { CampaignRef } from './campaigns.ts';
import {
  type CampaignRecipientRow,
  matchesFilterSql,
  RECIPIENT_COLUMNS,
  type RecipientFilter,
  toLikeText,
} from './recipient-rows.ts';

/**
 * The maximum number of contacts per query of the ledger. The first query reads as many contacts as the page has items,
 * and each further query four times as many.
 */
const CONTACTS_MAX = 2_000;

type Search = CampaignRef & RecipientFilter;

/**
 * Tells whether an index can find recipients by the start of their contact's address. The index `contacts_email` can
 * always find a complete address. The index can find the start of an address only if the database compares text by
 * bytes.
 */
export async function canFindByAddress(db: Db, { search }: RecipientFilter): Promise<boolean> {
  return Boolean(search) && ((await comparesBytes(db)) || isWholeAddress(search));
}

/**
 * Finds recipients whose contact's address starts with the search text, ordered by address, after the address `after`.
 * `goesOn` is the address after which the next page continues; null if no more contacts have such an address.
 */
export async function findRecipientsByAddress(
  db: Db,
  p: Search & { after: string | null; limit: number; untilMs: number },
): Promise<{ items: CampaignRecipientRow[]; goesOn: string | null }> {
  const items: CampaignRecipientRow[] = [];
  for (let { after } = p, most = p.limit + 1; ; most = Math.min(CONTACTS_MAX, 4 * most)) {
    const contacts = await listContacts(db, { ...p, after, most });
    const found = await findRows(db, p, { ids: [...contacts.keys()], limit: p.limit + 1 - items.length });
    items.push(...found);
    if (items.length > p.limit) {
      const shown = items.slice(0, p.limit);
      return { items: shown, goesOn: contacts.get(shown.at(-1)?.contactId ?? '') ?? after };
    }
    if (contacts.size < most) return { items, goesOn: null };
    after = [...contacts.values()].at(-1) ?? null;
    if (Date.now() >= p.untilMs) return { items, goesOn: after };
  }
}

/**
 * Returns the SQL condition for matching rows `e` that `findRecipientsByAddress` does not find. The condition is a
 * CASE, so that Postgres reads contacts only for matching rows; a join would read all contacts first.
 */
export async function isNotFoundByAddressSql(db: Db, p: RecipientFilter, meant: RawBuilder<SqlBool>) {
  const begins = await addressPrefixPredicate(db, p);
  return sql<SqlBool>`CASE WHEN ${meant} THEN NOT EXISTS (
    SELECT FROM contacts c WHERE c.id = e.contact_id AND c.project_id = e.project_id AND ${begins}) END`;
}

/** Lists the addresses of contacts that start with the search text, by contact id, in the order of the addresses. */
async function listContacts(db: Db, p: Search & { after: string | null; most: number }): Promise<Map<string, string>> {
  const after = p.after === null ? sql`true` : sql`c.email > ${p.after}`;
  const { rows } = await sql<{ id: string; email: string }>`
    SELECT c.id, c.email FROM contacts c
    WHERE c.project_id = ${p.projectId} AND ${await addressPrefixPredicate(db, p)} AND ${after} ORDER BY c.email LIMIT ${p.most}
  `.execute(db);
  return new Map(rows.map(({ id, email }) => [id, email]));
}

async function findRows(db: Db, p: Search, of: { ids: string[]; limit: number }): Promise<CampaignRecipientRow[]> {
  if (of.ids.length === 0) return [];
  const { rows } = await sql<CampaignRecipientRow>`
    SELECT ${RECIPIENT_COLUMNS} FROM contacts c
    JOIN emails e ON e.campaign_id = ${p.id} AND e.contact_id = c.id AND e.project_id = c.project_id
    WHERE c.project_id = ${p.projectId} AND c.id = ANY(${of.ids}::uuid[]) AND ${matchesFilterSql(p)}
    ORDER BY c.email LIMIT ${of.limit}
  `.execute(db);
  return rows;
}

async function addressPrefixPredicate(db: Db, { search = '' }: RecipientFilter): Promise<RawBuilder<SqlBool>> {
  if (await comparesBytes(db)) return sql<SqlBool>`c.email LIKE ${`${toLikeText(search)}%`}`;
  return sql<SqlBool>`c.email = ${normalizeEmail(search)}`;
}

function isWholeAddress(search = ''): boolean {
  return search.includes('@');
}

const bytewise = new WeakMap<Db, Promise<boolean>>();

/**
 * Tells whether the database sorts text by its bytes, so that an index can find LIKE 'a%'. Asks the database once and
 * remembers the result.
 */
function comparesBytes(db: Db): Promise<boolean> {
  const known = bytewise.get(db);
  if (known) return known;
  const asked = isOrderedByBytes(db);
  bytewise.set(db, asked);
  // After a failure, the next call asks the database again.
  asked.catch(() => bytewise.delete(db));
  return asked;
}

async function isOrderedByBytes(db: Db): Promise<boolean> {
  const { rows } = await sql<{ bytes: boolean }>`
    SELECT coalesce(CASE datlocprovider WHEN 'b' THEN datlocale WHEN 'c' THEN datcollate END, '')
      = ANY(CASE datlocprovider WHEN 'b' THEN ARRAY['C', 'C.UTF-8'] ELSE ARRAY['C', 'POSIX'] END) AS bytes
    FROM pg_database WHERE datname = current_database()
  `.execute(db);
  return rows[0]?.bytes ?? false;
}
