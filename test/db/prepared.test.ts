import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { connect, type Db } from '../../db/connection.ts';
import { prepared } from '../../db/prepared.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createTestDatabase();
  ({ db } = connect({
    connectionString: database.url,
    max: 1, // With one connection, all statements use the same connection.
    applicationName: 'prepared-test',
    onError: () => {},
  }));
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const listPreparedStatements = async () => {
  const { rows } = await sql<{ statement: string; uses: number }>`
    SELECT statement, generic_plans + custom_plans AS uses FROM pg_prepared_statements
    WHERE from_sql = false AND statement LIKE '/* prepared */%'`.execute(db);
  return rows.map(({ statement, uses }) => [statement, uses]);
};

it('a marked statement is prepared once per connection and run again with other values; other statements are not', async () => {
  for (const n of [1, 2, 3]) {
    const { rows } = await prepared<{ n: number }>`SELECT ${n}::int AS n`.execute(db);
    expect(rows).toEqual([{ n }]);
    await sql`SELECT ${n}::int AS n`.execute(db);
  }
  await db.transaction().execute((trx) => prepared`SELECT ${4}::int AS n`.execute(trx));
  expect(await listPreparedStatements()).toEqual([['/* prepared */ SELECT $1::int AS n', 4]]);
});

it('a prepared statement still works after its table was changed', async () => {
  await sql`CREATE TABLE changing (id int)`.execute(db);
  const read = () => prepared`SELECT id FROM changing`.execute(db);
  await read();
  await sql`ALTER TABLE changing ADD COLUMN name text`.execute(db);
  expect((await read()).rows).toEqual([]);
});

/** More queries than the pool makes between two checks of the table sizes (db/table-sizes.ts). */
const QUERIES_BETWEEN_CHECKS = 25;

it('a plan that was made while a table was small is replaced when the table has grown', async () => {
  await sql`DROP TABLE IF EXISTS growing`.execute(db);
  // Postgres's autovacuum would replace the plan, but `prepared` must do that in this test.
  await sql`CREATE TABLE growing (id int PRIMARY KEY) WITH (autovacuum_enabled = false)`.execute(db);
  await sql`SET plan_cache_mode = force_generic_plan`.execute(db);
  await sql`INSERT INTO growing SELECT generate_series(1, 5)`.execute(db);
  await sql`ANALYZE growing`.execute(db);
  const read = () => prepared`SELECT id FROM growing WHERE id = ANY(${[1]}::int[])`.execute(db);
  const readPlan = async () => {
    const { rows } = await sql<{ name: string }>`
      SELECT name FROM pg_prepared_statements WHERE statement LIKE '%FROM growing%' AND from_sql = false`.execute(db);
    const explained = await sql`EXPLAIN (COSTS OFF) EXECUTE ${sql.id(rows[0]?.name ?? '')}('{1}')`.execute(db);
    return JSON.stringify(explained.rows);
  };
  await read();
  expect(await readPlan()).toContain('Seq Scan');
  await sql`INSERT INTO growing SELECT generate_series(6, 20000)`.execute(db);
  expect(await readPlan()).toContain('Seq Scan'); // After several runs, Postgres keeps one plan for the statement.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
  for (let n = 0; n < QUERIES_BETWEEN_CHECKS; n += 1) await read();
  vi.useRealTimers();
  expect(await readPlan()).toContain('Index');
});

it('a locked table does not delay the preparation of a query for long', async () => {
  await sql`CREATE TABLE locked (id int)`.execute(db);
  const { db: locker } = connect({
    connectionString: database.url,
    max: 1,
    applicationName: 'prepared-test-locker',
    onError: () => {},
  });
  await locker.transaction().execute(async (trx) => {
    await sql`LOCK TABLE locked IN ACCESS EXCLUSIVE MODE`.execute(trx);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 120_000 });
    const { rows } = await prepared<{ n: number }>`SELECT ${1}::int AS n`.execute(db).finally(() => vi.useRealTimers());
    expect(rows).toEqual([{ n: 1 }]);
  });
  await locker.destroy();
  const { rows } = await sql<{ lock_timeout: string }>`SHOW lock_timeout`.execute(db);
  expect(rows).toEqual([{ lock_timeout: '0' }]);
});
