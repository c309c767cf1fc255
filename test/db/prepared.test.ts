import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, type Db } from '../../db/connection.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createTestDatabase();
  ({ db } = connect({
    connectionString: database.url,
    max: 1, // One connection, so that it is the same that is asked.
    applicationName: 'prepared-test',
    onError: () => {},
  }));
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const prepared = async () => {
  const { rows } = await sql<{ statement: string; uses: number }>`
    SELECT statement, generic_plans + custom_plans AS uses FROM pg_prepared_statements WHERE from_sql = false`.execute(
    db,
  );
  return rows.map(({ statement, uses }) => [statement, uses]);
};

test('a marked statement is prepared once a connection and run again with other values; others are not', async () => {
  for (const n of [1, 2, 3]) {
    const { rows } = await sql<{ n: number }>`/* prepared */ SELECT ${n}::int AS n`.execute(db);
    expect(rows).toEqual([{ n }]);
    await sql`SELECT ${n}::int AS n`.execute(db);
  }
  await db.transaction().execute((trx) => sql`/* prepared */ SELECT ${4}::int AS n`.execute(trx));
  expect(await prepared()).toEqual([['/* prepared */ SELECT $1::int AS n', 4]]);
});

test('a marked statement goes on after its table was changed', async () => {
  await sql`CREATE TABLE changing (id int)`.execute(db);
  const read = () => sql`/* prepared */ SELECT id FROM changing`.execute(db);
  await read();
  await sql`ALTER TABLE changing ADD COLUMN name text`.execute(db);
  expect((await read()).rows).toEqual([]);
});
