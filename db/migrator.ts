import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, Migrator, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { CONCURRENT_MIGRATIONS, MIGRATIONS } from './migrations.ts';

/** The oldest supported Postgres. The function `uuidv7()` of Postgres creates the ids. */
export const MIN_SERVER_VERSION = 180000;

export class MigrationError extends Error {}

/**
 * Applies all migrations of this build that the database lacks. Safe to run twice, and concurrently on several hosts,
 * because of an advisory lock.
 * @returns the names of the migrations that this call applied
 * @throws MigrationError when Postgres is too old, the database is newer than this build, or a migration fails
 */
export async function migrateToLatest(databaseUrl: string): Promise<string[]> {
  const pool = openPool(databaseUrl, 3);
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    await refuseOldServer(db);
    await refuseNewerDatabase(db);
    return await migrate(db);
  } finally {
    await db.destroy();
  }
}

/** Key of the advisory lock that a host holds while it migrates. */
const LOCK_KEY = sql.lit(7_411_220_911);
const LOCK_RETRY_MS = 200;

/**
 * Runs the pending migrations in order. Consecutive transactional migrations share a transaction. Each concurrent
 * migration runs separately, outside a transaction.
 */
async function migrate(db: Kysely<unknown>): Promise<string[]> {
  return db.connection().execute(async (session) => {
    await takeLock(session);
    try {
      const applied: string[] = [];
      for (const name of listLastOfEachRun(Object.keys(MIGRATIONS).sort()))
        applied.push(...(await migrateTo(db, name)));
      return applied;
    } finally {
      await sql`SELECT pg_advisory_unlock(${LOCK_KEY})`.execute(session);
    }
  });
}

/**
 * Waits until no other host migrates, and takes the lock. Polls instead of waiting in one statement: building an index
 * CONCURRENTLY waits for all older statements, so it would wait for a statement that waits for the lock.
 */
async function takeLock(session: Kysely<unknown>): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ taken: boolean }>`SELECT pg_try_advisory_lock(${LOCK_KEY}) AS taken`.execute(session);
    if (rows[0]?.taken) return;
    await sleep(LOCK_RETRY_MS);
  }
}

/**
 * Splits the names into groups of consecutive transactional migrations, and returns the last name of each group. A
 * concurrent migration is a separate group.
 */
function listLastOfEachRun(names: string[]): string[] {
  return names.filter((name, index) => {
    const next = names[index + 1];
    return next === undefined || CONCURRENT_MIGRATIONS.has(name) || CONCURRENT_MIGRATIONS.has(next);
  });
}

/**
 * Applies the pending migrations up to and including `name`.
 * @throws MigrationError
 */
async function migrateTo(db: Kysely<unknown>, name: string): Promise<string[]> {
  const provider = { getMigrations: async () => MIGRATIONS };
  const migrator = new Migrator({ db, provider, disableTransactions: CONCURRENT_MIGRATIONS.has(name) });
  if (await isApplied(db, name)) return [];
  const { error, results } = await migrator.migrateTo(name);
  if (error) {
    const failed = results?.find((result) => result.status === 'Error')?.migrationName ?? 'unknown';
    throw new MigrationError(`migration ${failed} failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  return (results ?? []).map((result) => result.migrationName);
}

/**
 * Tells whether a migration was applied. Without this check, `migrateTo` would revert the migrations after one that was
 * applied earlier.
 */
async function isApplied(db: Kysely<unknown>, name: string): Promise<boolean> {
  const { rows: found } = await sql<{ present: boolean }>`
    SELECT to_regclass('kysely_migration') IS NOT NULL AS present`.execute(db);
  if (!found[0]?.present) return false;
  const { rows } = await sql`SELECT 1 FROM kysely_migration WHERE name = ${name}`.execute(db);
  return rows.length > 0;
}

async function refuseOldServer(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ version: number }>`SELECT current_setting('server_version_num')::int AS version`.execute(
    db,
  );
  const version = rows[0]?.version ?? 0;
  if (version < MIN_SERVER_VERSION) {
    throw new MigrationError(`Postgres ${Math.floor(version / 10000)} is too old: Tidings needs Postgres 18 or newer`);
  }
}

/**
 * Throws if the database has migrations that this build does not know. A newer build has written such a database, and
 * an older build would corrupt it.
 */
async function refuseNewerDatabase(db: Kysely<unknown>): Promise<void> {
  const { rows: found } = await sql<{ present: boolean }>`
    SELECT to_regclass('kysely_migration') IS NOT NULL AS present`.execute(db);
  if (!found[0]?.present) return;
  const { rows } = await sql<{ name: string }>`SELECT name FROM kysely_migration ORDER BY name`.execute(db);
  const unknown = rows.map((row) => row.name).filter((name) => !(name in MIGRATIONS));
  if (unknown.length > 0) {
    throw new MigrationError(`the database is of a newer Tidings (it has ${unknown.at(-1)}): upgrade this build`);
  }
}

/** Lists this build's migrations that the database lacks. Lists all migrations if the database is empty. */
export async function listPendingMigrations(databaseUrl: string): Promise<string[]> {
  const pool = openPool(databaseUrl, 1);
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    const { rows: found } = await sql<{ present: boolean }>`
      SELECT to_regclass('kysely_migration') IS NOT NULL AS present`.execute(db);
    if (!found[0]?.present) return Object.keys(MIGRATIONS);
    const { rows } = await sql<{ name: string }>`SELECT name FROM kysely_migration`.execute(db);
    const applied = new Set(rows.map((row) => row.name));
    return Object.keys(MIGRATIONS).filter((name) => !applied.has(name));
  } finally {
    await db.destroy();
  }
}

function openPool(databaseUrl: string, max: number): pg.Pool {
  const pool = new pg.Pool({ connectionString: databaseUrl, max, connectionTimeoutMillis: 10_000 });
  // Without this listener, an idle connection that breaks would end the process, such as when Postgres stops right
  // after the migration.
  return pool.on('error', () => {});
}
