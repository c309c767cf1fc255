import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { connect, type Db, type Trx } from '../../db/connection.ts';
import { UnknownCommit } from '../../db/postgres-errors.ts';
import { inTransaction, provesRollback } from '../../db/transaction.ts';
import { AppError } from '../../rules/errors.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type PostgresProxy, startPostgresProxy } from '../support/postgres-proxy.ts';

let database: TestDatabase;
let proxy: PostgresProxy;
let db: Db;

beforeAll(async () => {
  database = await createTestDatabase();
  await sql`CREATE TABLE written (id int GENERATED ALWAYS AS IDENTITY, name text)`.execute(database.db);
});
beforeEach(async () => {
  await sql`TRUNCATE written`.execute(database.db);
  proxy = await startPostgresProxy(database.url);
  ({ db } = connect({ connectionString: proxy.url, max: 2, applicationName: 'test', onError: () => {} }));
});
afterEach(async () => {
  await db.destroy();
  await proxy.close();
});
afterAll(() => database?.drop());

const insertName = (name: string) => (trx: Trx) =>
  sql`INSERT INTO written (name) VALUES (${name})`.execute(trx).then(() => `wrote ${name}`);
const readWritten = async () => {
  const { rows } = await sql<{ name: string }>`SELECT name FROM written ORDER BY id`.execute(database.db);
  return rows.map((row) => row.name);
};

it('a transaction whose COMMIT succeeded without a response returns its result, and takes effect once', async () => {
  proxy.loseCommit('response');
  expect(await inTransaction(db, insertName('a'))).toBe('wrote a');
  expect([await readWritten(), proxy.commits]).toEqual([['a'], 1]);
});

it('a transaction whose COMMIT did not reach Postgres is run again', async () => {
  proxy.loseCommit('request');
  expect(await inTransaction(db, insertName('a'))).toBe('wrote a');
  expect([await readWritten(), proxy.commits]).toEqual([['a'], 2]);
});

it('a connection that breaks while Postgres commits: the transaction returns its result once it is committed', async () => {
  await sql`
    CREATE FUNCTION slow_commit() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END $$`.execute(database.db);
  await sql`
    CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON written DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION slow_commit()`.execute(database.db);
  let result: Promise<string> | undefined;
  await database.db.transaction().execute(async (trx) => {
    await sql`SELECT pg_advisory_xact_lock(7)`.execute(trx);
    result = inTransaction(db, insertName('a'));
    await expect.poll(() => proxy.commits).toBe(1);
    proxy.cut();
    await expect
      .poll(() => proxy.statements.filter((text) => text.includes('pg_xact_status')).length)
      .toBeGreaterThan(1);
  });
  expect(await result).toBe('wrote a');
  expect([await readWritten(), proxy.commits]).toEqual([['a'], 1]);
  await sql`DROP TRIGGER slow_commit ON written`.execute(database.db);
});

it('a COMMIT with an unknown result is distinguished from a COMMIT that failed', async () => {
  proxy.loseCommit('response', { later: 'refused' });
  const error = await inTransaction(db, insertName('a')).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UnknownCommit);
  expect(provesRollback(error)).toBe(false);
  expect(await readWritten()).toEqual(['a']);
});

it('the first error of a connection that breaks before COMMIT is reported', async () => {
  const broken = inTransaction(db, async (trx) => {
    await insertName('a')(trx);
    await sql`SELECT pg_terminate_backend(pg_backend_pid())`.execute(trx);
  });
  // The ROLLBACK of the broken connection fails too, with "not queryable".
  await expect(broken).rejects.toThrow('terminating connection');
  expect(await readWritten()).toEqual([]);
});

it('an error before COMMIT proves that nothing was stored', async () => {
  const errors = [new AppError('NOT_FOUND'), new TypeError('a fault of ours')];
  for (const error of errors) {
    const thrown = await inTransaction(db, async (trx) => {
      await insertName('a')(trx);
      throw error;
    }).catch((caught: unknown) => caught);
    expect([thrown, provesRollback(thrown)]).toEqual([error, true]);
  }
  expect(await readWritten()).toEqual([]);
});
