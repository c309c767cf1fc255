import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { upsertVariants } from '../../engine/events/storefront.ts';
import { buildProject, type TestProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type HostProcess, startWorkerHost } from '../support/host-process.ts';
import { createTestTemporal, type TestTemporal } from '../support/services.ts';

const WAITING = 5_000;

let database: TestDatabase;
let temporal: TestTemporal;
let project: TestProject;
let running: HostProcess[] = [];

beforeAll(async () => {
  [database, temporal] = await Promise.all([createTestDatabase(), createTestTemporal()]);
  project = await buildProject(database.db, 'Kill');
});
afterAll(() => database?.drop());
afterEach(async () => {
  await Promise.all(running.map((host) => host.kill()));
  running = [];
});

async function startWorker(): Promise<HostProcess> {
  const host = await startWorkerHost({ database, temporal });
  running.push(host);
  return host;
}

const setAvailability = (available: boolean) =>
  database.db.transaction().execute((trx) =>
    upsertVariants(trx, {
      projectId: project.id,
      mode: 'live',
      variants: [{ variantId: '1', productTitle: 'Jumper', title: 'Blue', url: null, available }],
    }),
  );

async function countRows(what: 'notices' | 'contacts' | 'waiting'): Promise<number> {
  const events = sql`FROM events WHERE project_id = ${project.id} AND name = 'shopify.back_in_stock'`;
  const query = {
    notices: sql<{ n: number }>`SELECT count(*)::int AS n ${events}`,
    contacts: sql<{ n: number }>`SELECT count(DISTINCT contact_id)::int AS n ${events}`,
    waiting: sql<{ n: number }>`SELECT count(*)::int AS n FROM back_in_stock_waits`,
  }[what];
  const { rows } = await query.execute(database.db);
  return rows[0]?.n ?? 0;
}

it('5,000 waiting contacts are each notified once although the worker is killed', async () => {
  await setAvailability(false);
  await sql`
    WITH made AS (
      INSERT INTO contacts (project_id, email, subscribed)
      SELECT ${project.id}, 'c' || i || '@shop.test', false FROM generate_series(1, ${WAITING}::int) i RETURNING id
    )
    INSERT INTO back_in_stock_waits (project_id, variant_id, contact_id) SELECT ${project.id}, '1', id FROM made
  `.execute(database.db);
  const worker = await startWorker();
  await database.db.transaction().execute(async (trx) => {
    // Locks a contact in the middle of the list, so the job is in the middle of a page when its worker is killed.
    // (OFFSET with FOR UPDATE would lock all rows before this contact.)
    await sql`
      SELECT id FROM contacts
      WHERE id = (SELECT id FROM contacts WHERE project_id = ${project.id} ORDER BY id OFFSET ${WAITING / 2} LIMIT 1)
      FOR UPDATE
    `.execute(trx);
    await setAvailability(true);
    await expect.poll(() => countRows('notices'), { interval: 25 }).toBe(WAITING / 2);
    await worker.kill();
  });
  expect([await countRows('notices'), await countRows('waiting')]).toEqual([WAITING / 2, WAITING / 2]);
  await startWorker();
  await expect.poll(() => countRows('waiting'), { interval: 100 }).toBe(0);
  expect([await countRows('notices'), await countRows('contacts')]).toEqual([WAITING, WAITING]);
});
