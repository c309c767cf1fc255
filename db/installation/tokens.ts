import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { DatabaseMark, InstallationToken, PostgresToken } from '../../rules/installation-tokens.ts';
import type { Db } from '../connection.ts';

/**
 * The number of stored tokens. A token is written about once per minute, so these are the tokens of one day. If
 * Temporal has an older one of these tokens, Temporal was restored from a backup.
 */
const KEPT_TOKENS = 1_440;

/** Reads the tokens, newest first. */
export async function readTokens(db: Db): Promise<PostgresToken[]> {
  const rows = await db.selectFrom('installation_tokens').selectAll().orderBy('no', 'desc').execute();
  return rows.map((row) => ({
    no: row.no,
    value: row.value,
    rolledAt: row.rolled_at.toISOString(),
    confirmed: row.confirmed,
    database: { systemIdentifier: row.system_identifier, oid: row.database_oid },
  }));
}

/**
 * Reads the identity of this database: its system identifier and oid. On a plain Postgres, every role may call
 * `pg_control_system()`. If a managed Postgres forbids this call, only the oid of the database identifies it.
 */
export async function readDatabaseIdentity(db: Db): Promise<DatabaseMark> {
  const { rows } = await sql<{ oid: number; allowed: boolean }>`
    SELECT oid::bigint AS oid, has_function_privilege('pg_control_system()', 'EXECUTE') AS allowed
    FROM pg_database WHERE datname = current_database()`.execute(db);
  const [found] = rows;
  if (!found) throw new Error('Postgres does not list the database that it serves');
  return { oid: found.oid, systemIdentifier: found.allowed ? await readSystemIdentifier(db) : null };
}

async function readSystemIdentifier(db: Db): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    SELECT system_identifier::text AS id FROM pg_control_system()`.execute(db);
  return rows[0]?.id ?? null;
}

/**
 * Inserts the next token as unconfirmed, and deletes all but the newest `KEPT_TOKENS` tokens.
 * @returns undefined if another process has inserted a token with this number
 */
export async function insertToken(
  db: Db,
  p: { no: number; database: DatabaseMark },
): Promise<PostgresToken | undefined> {
  const { no, database } = p;
  const row = await db
    .insertInto('installation_tokens')
    .values({ no, value: randomUUID(), system_identifier: database.systemIdentifier, database_oid: database.oid })
    .onConflict((conflict) => conflict.column('no').doNothing())
    .returning(['value', 'rolled_at'])
    .executeTakeFirst();
  if (!row) return undefined;
  await db
    .deleteFrom('installation_tokens')
    .where('no', '<=', no - KEPT_TOKENS)
    .execute();
  return { no, value: row.value, rolledAt: row.rolled_at.toISOString(), confirmed: false, database };
}

/** Records that Temporal has also stored a token. */
export async function confirmToken(db: Db, { no, value }: InstallationToken): Promise<void> {
  await db
    .updateTable('installation_tokens')
    .set({ confirmed: true })
    .where('no', '=', no)
    .where('value', '=', value)
    .execute();
}

/** Stores a token of Temporal as a token of this database. The database may have lost the token in a restore. */
export async function adoptTemporalToken(db: Db, token: InstallationToken): Promise<void> {
  const columns = {
    value: token.value,
    rolled_at: token.rolledAt,
    confirmed: true,
    system_identifier: token.database.systemIdentifier,
    database_oid: token.database.oid,
  };
  await db
    .insertInto('installation_tokens')
    .values({ no: token.no, ...columns })
    .onConflict((conflict) => conflict.column('no').doUpdateSet(columns))
    .execute();
}

/** Deletes all tokens, because an installation with a new id starts with token 1. */
export async function deleteTokens(db: Db): Promise<void> {
  await db.deleteFrom('installation_tokens').execute();
}
