import { Kysely, Migrator, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { MIGRATIONS } from './migrations.ts';

/** The oldest Postgres we run on: ids are made by its `uuidv7()`. */
export const MIN_SERVER_VERSION = 180000;

export class MigrationError extends Error {}

/**
 * Brings the database to this build's version. Safe to run from several hosts at once (an advisory lock) and again.
 * @returns the names of the migrations that were applied now
 * @throws MigrationError when Postgres is too old, the database is newer than this build, or a migration fails
 */
export async function migrateToLatest(databaseUrl: string): Promise<string[]> {
  const pool = openPool(databaseUrl, 2);
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    await refuseOldServer(db);
    await refuseNewerDatabase(db);
    return await migrate(db);
  } finally {
    await db.destroy();
  }
}

async function migrate(db: Kysely<unknown>): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } });
  const { error, results } = await migrator.migrateToLatest();
  if (error) {
    const failed = results?.find((result) => result.status === 'Error')?.migrationName ?? 'unknown';
    throw new MigrationError(`migration ${failed} failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  return (results ?? []).map((result) => result.migrationName);
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
 * A database with migrations that this build does not know was written by a newer build: running on would corrupt it.
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

/** Names of this build's migrations that the database lacks; all of them when it is empty. */
export async function pendingMigrations(databaseUrl: string): Promise<string[]> {
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
  // A connection that breaks while it is idle, as when Postgres is stopped right after, would end the process.
  return pool.on('error', () => {});
}
