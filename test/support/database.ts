import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { connect, type Db } from '../../db/connection.ts';

/**
 * The name of the database that global-setup.ts creates. It is repeated here, because a test file must not load the
 * whole setup.
 */
const TEMPLATE_DATABASE = 'tidings_template';
const CONNECTIONS = 8;

export interface TestDatabase {
  db: Db;
  /** Connection string for other processes and pools of a test. */
  url: string;
  /** Closes `db` and deletes the database, even if other connections are open. */
  drop(): Promise<void>;
}

/** Creates a migrated, empty database for a test file. It copies the template database of the run in about 50 ms. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const serverUrl = inject('postgresUrl');
  await execute(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE_DATABASE} STRATEGY FILE_COPY`);
  const url = Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
  const { db } = connect({ connectionString: url, max: CONNECTIONS, applicationName: 'test', onError: () => {} });
  // The copy has the installation id of the template. Two test services may share a namespace, so each gets a new id.
  await db.updateTable('installation').set({ id: randomUUID() }).execute();
  return {
    db,
    url,
    drop: async () => {
      await db.destroy();
      await execute(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
