import pg from 'pg';
import { expect, it } from 'vitest';
import { buildProject } from '../support/api.ts';
import { createTestDatabase } from '../support/database.ts';

/** About 280 pages of contacts. */
const CONTACTS = 20_000;

it('an import of many contacts writes no message to the log of Postgres', async () => {
  const database = await createTestDatabase();
  const client = new pg.Client(database.url);
  try {
    const { id } = await buildProject(database.db, 'Log');
    await client.connect();
    const lines: (string | undefined)[] = [];
    client.on('notice', ({ message }) => lines.push(message));
    await client.query('SET client_min_messages = log');
    await client.query(
      `INSERT INTO contacts (project_id, email, subscribed, data)
       SELECT $1, 'c' || n || '@example.com', true, jsonb_build_object('text', repeat('x', 50)) FROM generate_series(1, $2::int) AS n`,
      [id, CONTACTS],
    );
    expect(lines).toEqual([]);
  } finally {
    await client.end();
    await database.drop();
  }
});
