import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildIndex } from '../../db/concurrent-index.ts';
import { MIGRATIONS } from '../../db/migrations.ts';
import { migrateToLatest } from '../../db/migrator.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Kysely<unknown>;
beforeAll(async () => {
  database = await createTestDatabase();
  db = database.db as unknown as Kysely<unknown>;
  await sql`CREATE TABLE things (name text)`.execute(db);
});
afterAll(() => database?.drop());

const build = () => buildIndex(db, { name: 'things_once', isUnique: true, on: sql`things (name)` });
const isValid = async () =>
  (
    await sql<{
      valid: boolean;
    }>`SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('things_once')`.execute(db)
  ).rows[0]?.valid;

it('an index whose build was interrupted is built again', async () => {
  await sql`INSERT INTO things VALUES ('a'), ('a')`.execute(db);
  await expect(build()).rejects.toThrow('could not create unique index');
  // Postgres keeps the incomplete index of a killed or failed build, and no statement uses it.
  expect(await isValid()).toBe(false);
  await sql`DELETE FROM things`.execute(db);
  await build();
  expect(await isValid()).toBe(true);
  await build();
});

it('an index is built without blocking concurrent writers', async () => {
  await sql`DROP INDEX things_once`.execute(db);
  const writer = await database.db.startTransaction().execute();
  await sql`INSERT INTO things VALUES ('open')`.execute(writer);
  const building = build();
  await sql`INSERT INTO things VALUES ('meanwhile')`.execute(db);
  await writer.commit().execute();
  await building;
  expect(await isValid()).toBe(true);
});

it('several hosts migrate concurrently, and one of them runs the migrations', async () => {
  const url = new URL(database.url);
  const name = `${url.pathname.slice(1)}_empty`;
  await sql`CREATE DATABASE ${sql.ref(name)}`.execute(db);
  url.pathname = name;
  try {
    const applied = await Promise.all([1, 2, 3].map(() => migrateToLatest(url.href)));
    expect(applied.flat().sort()).toEqual(Object.keys(MIGRATIONS).sort());
  } finally {
    await sql`DROP DATABASE ${sql.ref(name)} WITH (FORCE)`.execute(db);
  }
});
