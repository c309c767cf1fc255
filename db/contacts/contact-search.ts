import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { NAME_KEYS } from '../../rules/contacts/contact-name.ts';
import { toSearchForms } from '../../rules/emails/email-address.ts';
import type { Condition } from '../../rules/filters/filters.ts';
import type { Db } from '../connection.ts';
import { escapeLike } from '../escape-like.ts';
import { earliestIdSql, latestIdSql } from '../id-time.ts';
import { compileCondition } from '../segments/filter-sql.ts';
import { loadConditionSources } from '../segments/sources.ts';

/** Selects contacts of a project. Without any field, selects all contacts. */
export interface ContactSelection {
  /** A substring of the address or of the name, in upper or lower case. */
  search?: string | undefined;
  condition?: Condition | undefined;
  subscribed?: boolean | undefined;
  /** Only contacts created at this instant or later. */
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
  /** Only contacts updated at this instant or later. */
  updatedAfter?: Date | undefined;
}

/**
 * Returns the SQL condition on `contacts` for the selected contacts. Lists and jobs use the same function, so they
 * select the same contacts.
 * @throws AppError CONFLICT for segments that refer to each other in a cycle
 */
export async function contactPredicate(
  db: Db,
  asked: ContactSelection & { projectId: string },
): Promise<RawBuilder<SqlBool>> {
  const { projectId, condition } = asked;
  const ours = sql<SqlBool>`contacts.project_id = ${projectId} AND ${matchesSearch(asked)}`;
  if (!condition) return ours;
  const { segments, zone } = await loadConditionSources(db, { projectId, condition });
  return sql<SqlBool>`${ours} AND ${compileCondition(condition, { projectId, now: new Date(), segments, zone })}`;
}

/** Counts the contacts that match a condition on `contacts`. */
export async function countMatchingContacts(db: Db, found: RawBuilder<SqlBool>): Promise<number> {
  const { rows } = await sql<{ total: number }>`SELECT count(*) AS total FROM contacts WHERE ${found}`.execute(db);
  return rows[0]?.total ?? 0;
}

function matchesSearch({
  search,
  subscribed,
  createdAfter,
  createdBefore,
  updatedAfter,
}: ContactSelection): RawBuilder<SqlBool> {
  const parts = [
    search && searchPredicate(search),
    subscribed === undefined ? undefined : sql<SqlBool>`contacts.subscribed = ${subscribed}`,
    createdAfter &&
      sql<SqlBool>`contacts.created_at >= ${createdAfter} AND contacts.id >= ${earliestIdSql(createdAfter)}`,
    createdBefore &&
      sql<SqlBool>`contacts.created_at < ${createdBefore} AND contacts.id < ${latestIdSql(createdBefore)}`,
    updatedAfter && sql<SqlBool>`contacts.updated_at >= ${updatedAfter}`,
  ].filter((part) => part !== undefined && part !== '');
  return parts.length === 0 ? sql<SqlBool>`true` : sql.join(parts, sql` AND `);
}

/**
 * Matches a substring of the address, or of the name in the usual keys of the data. A text with an `@` is searched only
 * in addresses.
 */
function searchPredicate(search: string): RawBuilder<SqlBool> {
  const parts = toSearchForms(search).map((part) => `%${escapeLike(part)}%`);
  // Addresses are stored in lower case, so LIKE is case-insensitive here.
  const inAddress = sql<SqlBool>`contacts.email LIKE ANY (${parts}::text[])`;
  if (search.includes('@')) return inAddress;
  const words = search.trim().normalize('NFC').toLowerCase().replaceAll(/\s+/g, ' ');
  return sql<SqlBool>`(${inAddress} OR lower(${NAME}) LIKE ${`%${escapeLike(words)}%`})`;
}

const firstValueSql = (keys: readonly string[]) =>
  sql`coalesce(${sql.join(keys.map((key) => sql`contacts.data->>${sql.lit(key)}`))})`;
const NAME = sql`concat_ws(' ', ${firstValueSql(NAME_KEYS.first)}, ${firstValueSql(NAME_KEYS.last)}, ${firstValueSql(NAME_KEYS.full)})`;
