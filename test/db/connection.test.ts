import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect } from '../../db/connection.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database?.drop());

it('if Postgres ends a connection in the middle of a transaction, that transaction fails and the process continues', async () => {
  const { db } = connect({ connectionString: database.url, max: 2, applicationName: 'test', onError: () => {} });
  const uncaught: Error[] = [];
  const recordError = (error: Error) => void uncaught.push(error);
  process.on('uncaughtExceptionMonitor', recordError);
  const broken = db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(trx);
    await sql`SELECT pg_terminate_backend(${rows[0]?.pid})`.execute(database.db);
    await expect.poll(() => sql`SELECT 1`.execute(trx).catch(() => 'gone')).toBe('gone');
    await sql`SELECT 1`.execute(trx);
  });
  await expect(broken).rejects.toThrow();
  const { rows } = await sql`SELECT 1 AS ok`.execute(db);
  expect(rows).toEqual([{ ok: 1 }]);
  expect(uncaught).toEqual([]);
  process.off('uncaughtExceptionMonitor', recordError);
  await db.destroy();
});
