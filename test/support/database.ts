import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { connect, type Db } from '../../db/connection.ts';
import { migrateToLatest } from '../../db/migrator.ts';

/** The Postgres that the test run has started; while developing, any other. */
const SERVER_URL = process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:25432/postgres';

export interface TestDatabase {
  db: Db;
  url: string;
  drop(): Promise<void>;
}

/** A migrated database of its own; `drop` closes `db` and removes it. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${Date.now()}_${randomBytes(4).toString('hex')}`;
  const admin = new pg.Client(SERVER_URL);
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  const url = Object.assign(new URL(SERVER_URL), { pathname: `/${name}` }).href;
  await migrateToLatest(url);
  const { db } = connect({ connectionString: url, max: 4, applicationName: 'test', onError: () => {} });
  return {
    db,
    url,
    drop: async () => {
      await db.destroy();
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.end();
    },
  };
}
