import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createMaintenanceActivities } from '../../activities/maintenance.ts';
import { putProjectOnHold } from '../../db/projects/projects.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let projectId: string;
let dispatched: OutboxRow[];
let activities: ReturnType<typeof createMaintenanceActivities>;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  projectId = (await buildProject(database.db, 'One')).id;
  dispatched = [];
  const outbox = { wake: (rows: OutboxRow[]) => void dispatched.push(...rows) };
  const log = pino({ level: 'silent' });
  activities = createMaintenanceActivities({ db: database.db, outbox, log } as unknown as ActivityDeps);
});
afterAll(() => database?.drop());

/** Builds emails that are SENT, or HELD if `isHeld` returns true. Returns the ids in order. */
async function buildHeldAndSentEmails(count: number, isHeld: (n: number) => boolean): Promise<string[]> {
  const ids = Array.from({ length: count }, () => uuidv7());
  const contentId = uuidv7();
  await sql`
    INSERT INTO contents (id, project_id, hash, subject, body, type, from_email)
    VALUES (${contentId}, ${projectId}, '\\x00', 'Hi', 'Hi', 'TRANSACTIONAL', 'a@example.com')`.execute(database.db);
  await sql`
    INSERT INTO emails (id, project_id, content_id, source_type, to_email, status)
    SELECT u.id, ${projectId}, ${contentId}, 'TRANSACTIONAL', 'b@example.com', u.status
    FROM unnest(${ids}::uuid[], ${ids.map((_, n) => (isHeld(n) ? 'HELD' : 'SENT'))}::text[]) AS u (id, status)
  `.execute(database.db);
  return ids;
}
async function countHeld(): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    SELECT count(*) AS n FROM emails WHERE project_id = ${projectId} AND status = 'HELD'`.execute(database.db);
  return rows[0]?.n ?? 0;
}
const releaseAllPages = async () => {
  const pages = [await activities.releasePage({ projectId })];
  for (let after = pages[0]?.after; after; after = pages.at(-1)?.after) {
    pages.push(await activities.releasePage({ projectId, after }));
  }
  return pages;
};

it('a hold that is set again during its release ends the release, and the remaining emails stay HELD', async () => {
  await buildHeldAndSentEmails(2_500, () => true);
  const first = await activities.releasePage({ projectId });
  expect(first.released).toBe(1_000);
  await inTransaction(database.db, (trx) => putProjectOnHold(trx, { projectId, reason: 'again' }));
  expect(await activities.releasePage({ projectId, after: first.after })).toEqual({ released: 0, after: null });
  expect([await countHeld(), dispatched.length]).toEqual([1_500, 1_000]);
});

it('a release reads the emails once, and sends each held email once', async () => {
  const ids = await buildHeldAndSentEmails(5_500, (n) => n % 500 === 0);
  const pages = await releaseAllPages();
  expect(pages.map((page) => page.released)).toEqual([2, 2, 2, 2, 2, 1]);
  expect(pages.map((page) => page.after)).toEqual([...[999, 1_999, 2_999, 3_999, 4_999].map((n) => ids[n]), null]);
  expect(dispatched.map((row) => row.refId)).toEqual(ids.filter((_, n) => n % 500 === 0));
  expect(await countHeld()).toBe(0);
});

it('one activity reads many emails if none of them is held', async () => {
  await buildHeldAndSentEmails(3_200, () => false);
  expect(await releaseAllPages()).toEqual([{ released: 0, after: null }]);
});

it('a release waits for a held email that another transaction has locked, and does not skip it', async () => {
  const [id] = await buildHeldAndSentEmails(3, () => true);
  let released: Promise<unknown> | undefined;
  await database.db.transaction().execute(async (trx) => {
    await sql`SELECT FROM emails WHERE id = ${id} FOR UPDATE`.execute(trx);
    released = activities.releasePage({ projectId });
    await until(async () => {
      const { rows } =
        await sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(
          database.db,
        );
      return rows.length > 0;
    }, 'the release to wait');
  });
  expect(await released).toEqual({ released: 3, after: null });
});
