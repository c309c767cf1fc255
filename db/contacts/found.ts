import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { normalizeEmail } from '../../rules/emails/email-address.ts';
import type { Condition } from '../../rules/filters/filters.ts';
import type { Db } from '../connection.ts';
import { compileCondition } from '../segments/filter-sql.ts';
import { loadSegmentSources } from '../segments/sources.ts';

/** Which contacts of a project are meant: all of them where nothing is said. */
export interface ContactsAsked {
  /** A part of the address, in any case. */
  search?: string | undefined;
  condition?: Condition | undefined;
}

/**
 * The contacts that are meant, as a predicate of `contacts`: for a list, and for a job over the same ones.
 * @throws AppError CONFLICT for segments in a circle
 */
export async function foundContacts(
  db: Db,
  { projectId, search, condition }: ContactsAsked & { projectId: string },
): Promise<RawBuilder<SqlBool>> {
  const ours = sql<SqlBool>`contacts.project_id = ${projectId} AND ${matches(search)}`;
  if (!condition) return ours;
  const segments = await loadSegmentSources(db, { projectId, condition });
  return sql<SqlBool>`${ours} AND ${compileCondition(condition, { projectId, now: new Date(), segments })}`;
}

/** How many contacts a predicate of `contacts` holds for. */
export async function countFound(db: Db, found: RawBuilder<SqlBool>): Promise<number> {
  const { rows } = await sql<{ total: number }>`SELECT count(*) AS total FROM contacts WHERE ${found}`.execute(db);
  return rows[0]?.total ?? 0;
}

function matches(search: string | undefined): RawBuilder<SqlBool> {
  if (!search) return sql<SqlBool>`true`;
  // Addresses are stored in lower case, so LIKE is case-insensitive here.
  return sql<SqlBool>`contacts.email LIKE ${`%${normalizeEmail(search).replaceAll(/[\\%_]/g, '\\$&')}%`}`;
}
