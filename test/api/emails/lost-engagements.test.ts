import { sql } from 'kysely';
import type { Logger } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { EngagementBatcher } from '../../../api/accept/engagement-batcher.ts';
import { connect, type Db } from '../../../db/connection.ts';
import { uuidv7 } from '../../../rules/uuid.ts';
import { buildProject } from '../../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type PostgresProxy, startPostgresProxy } from '../../support/postgres-proxy.ts';
import { until } from '../../support/until.ts';

let database: TestDatabase;
let projectId: string;
let proxy: PostgresProxy;
let db: Db;
let batcher: EngagementBatcher;
let warnings: string[];

beforeAll(async () => {
  database = await createTestDatabase();
  projectId = (await buildProject(database.db, 'One')).id;
});
beforeEach(async () => {
  proxy = await startPostgresProxy(database.url);
  ({ db } = connect({ connectionString: proxy.url, max: 2, applicationName: 'test', onError: () => {} }));
  warnings = [];
  batcher = createBatcher();
});
afterEach(async () => {
  await batcher.close();
  await db.destroy();
  await proxy.close();
});
afterAll(() => database?.drop());

function createBatcher(): EngagementBatcher {
  const log = { warn: (_: unknown, message: string) => void warnings.push(message), error: () => {} };
  return new EngagementBatcher({
    db,
    outbox: { wake: () => {} },
    log: log as unknown as Logger,
    lenient: true,
  });
}
async function buildEmail(): Promise<string> {
  const [id, contentId] = [uuidv7(), uuidv7()];
  await sql`
    INSERT INTO contents (id, project_id, hash, subject, body, type, from_email)
    VALUES (${contentId}, ${projectId}, uuid_send(${contentId}), 'Hi', 'Hi', 'TRANSACTIONAL', 'a@example.com')
  `.execute(database.db);
  await sql`
    INSERT INTO emails (id, project_id, content_id, source_type, to_email, status, sent_at)
    VALUES (${id}, ${projectId}, ${contentId}, 'TRANSACTIONAL', 'b@example.com', 'SENT', now())`.execute(database.db);
  return id;
}
const recordOpen = (emailId: string) => batcher.add({ emailId, kind: 'open', at: new Date(), machine: false });
const readOpens = async (ids: string[]) => {
  const { rows } = await sql<{ opens: number }>`
    SELECT opens FROM emails WHERE id = ANY(${ids}::uuid[]) ORDER BY id`.execute(database.db);
  return rows.map((row) => row.opens);
};
/** Opens a new email and waits until that open is stored. All earlier opens are then stored too. */
async function waitForStoredOpens(): Promise<void> {
  const last = await buildEmail();
  await batcher.close();
  batcher = createBatcher();
  recordOpen(last);
  await until(async () => (await readOpens([last]))[0] === 1, 'the last open');
}

it('opens count once if the response to their COMMIT is lost', async () => {
  const ids = [await buildEmail(), await buildEmail()];
  proxy.loseCommit('response');
  for (const id of ids) recordOpen(id);
  await until(async () => proxy.commits > 0 && (await readOpens(ids)).every((opens) => opens > 0), 'the opens');
  await waitForStoredOpens();
  expect(await readOpens(ids)).toEqual([1, 1]);
});

it('an open counts once if the response to COMMIT is lost, whether the COMMIT succeeded or not', async () => {
  for (const what of ['response', 'request'] as const) {
    const ids = [await buildEmail(), await buildEmail()];
    warnings = [];
    proxy.loseCommit(what, { later: 'refused' });
    for (const id of ids) recordOpen(id);
    // The transaction ends without a known result, and the service retries it.
    await until(
      async () => warnings.includes('opens and clicks wait for the database'),
      'an attempt without a database',
    );
    proxy.open();
    await waitForStoredOpens();
    expect([what, await readOpens(ids)]).toEqual([what, [1, 1]]);
  }
});
