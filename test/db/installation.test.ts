import { randomBytes, randomUUID } from 'node:crypto';
import { Kysely, Migrator, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { afterEach, expect, inject, it } from 'vitest';
import { readInstallation } from '../../db/installation/installation.ts';
import { MIGRATIONS } from '../../db/migrations.ts';
import { migrateToLatest } from '../../db/migrator.ts';
import type { Database } from '../../db/schema/database.ts';

const MIGRATION = '20261126T0119-installation';
const HOUR_MS = 3_600_000;

const closings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

/** Creates an empty database for one test. */
async function createEmptyDatabase(): Promise<{ url: string; db: Kysely<Database> }> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const admin = new pg.Client(inject('postgresUrl'));
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  closings.push(async () => {
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await admin.end();
  });
  const url = Object.assign(new URL(inject('postgresUrl')), { pathname: `/${name}` }).href;
  const pool = new pg.Pool({ connectionString: url, max: 2 }).on('error', () => {});
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  closings.push(() => db.destroy());
  return { url, db };
}

/** Creates a database in the state of the release before the migration. */
async function createEarlierDatabase(): Promise<{ url: string; db: Kysely<Database> }> {
  const database = await createEmptyDatabase();
  const earlier = Object.fromEntries(Object.entries(MIGRATIONS).filter(([name]) => name < MIGRATION));
  const migrator = new Migrator({ db: database.db, provider: { getMigrations: async () => earlier } });
  const { error } = await migrator.migrateToLatest();
  expect(error).toBeUndefined();
  return database;
}

it('a new database gets its own id, and no names of an earlier release', async () => {
  const { url, db } = await createEmptyDatabase();
  await migrateToLatest(url);
  const installation = await readInstallation(db);
  expect(installation).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4/),
    shortId: installation.id.slice(0, 8),
    legacyBefore: null,
    legacyClosedAt: null,
  });
});

it('the table installation keeps one row', async () => {
  const { url, db } = await createEmptyDatabase();
  await migrateToLatest(url);
  await expect(db.insertInto('installation').values({ id: randomUUID() }).execute()).rejects.toThrow('duplicate key');
});

it('rows from before an upgrade keep their earlier workflow names', async () => {
  const { url, db } = await createEarlierDatabase();
  const startedAt = Date.now();
  await migrateToLatest(url);
  const { legacyBefore } = await readInstallation(db);
  expect(legacyBefore?.getTime()).toBeGreaterThanOrEqual(startedAt - 1000);
  expect(legacyBefore?.getTime()).toBeLessThanOrEqual(Date.now() + 1000);
});

it('rows whose id was made by a clock that was ahead before an upgrade keep their earlier workflow names', async () => {
  const { url, db } = await createEarlierDatabase();
  const madeAt = Date.now() + HOUR_MS / 2;
  await sql`INSERT INTO outbox (id, project_id, kind, ref_id)
    VALUES (uuidv7(interval '30 minutes'), uuidv7(), 'campaign.start', uuidv7())`.execute(db);
  await migrateToLatest(url);
  const { legacyBefore } = await readInstallation(db);
  expect(legacyBefore?.getTime()).toBeGreaterThanOrEqual(madeAt);
});

it('rows of the hour after an upgrade keep earlier workflow names if a process of the earlier release still runs', async () => {
  const { url, db } = await createEarlierDatabase();
  await db
    .insertInto('processes')
    .values({ id: randomUUID(), kind: 'worker', host: 'h', pid: 1, version: '1', build: 'b', started_at: new Date() })
    .execute();
  await migrateToLatest(url);
  const { legacyBefore } = await readInstallation(db);
  expect(legacyBefore?.getTime()).toBeGreaterThan(Date.now() + HOUR_MS / 2);
});
