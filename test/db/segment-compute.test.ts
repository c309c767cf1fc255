import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { insertProject } from '../../db/projects/accounts.ts';
import { listSegmentContacts, refreshMemberCount } from '../../db/segments/contacts.ts';
import { insertSegment, type Segment } from '../../db/segments/segments.ts';
import { inTransaction } from '../../db/transaction.ts';
import { deleteContacts } from '../../engine/contacts/delete-contacts.ts';
import { computeSegment } from '../../engine/segments/compute.ts';
import { generatePublicKey } from '../../rules/access/api-keys.ts';
import { parseCondition } from '../../rules/filters/filters.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/** Three pages of a segment's computation. */
const CONTACTS = 2_500;

const suppressionKey = Buffer.alloc(32, 7);

let database: TestDatabase;
let projectId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await insertProject(database.db, { name: 'Test', publicKey: generatePublicKey() });
});
afterAll(() => database.drop());

async function createSegment(tag: string): Promise<Segment> {
  const condition = parseCondition({
    operator: 'AND',
    conditions: [{ field: 'data.tag', operator: 'equals', value: tag }],
  });
  await sql`
    INSERT INTO contacts (project_id, email, subscribed, data)
    SELECT ${projectId}, n || ${`.${tag}@example.com`}, true, jsonb_build_object('tag', ${tag}::text)
    FROM generate_series(1, ${CONTACTS}) AS n`.execute(database.db);
  const fresh = { projectId, name: tag, description: null, condition, trackMembership: true };
  return database.db.transaction().execute((trx) => insertSegment(trx, { ...fresh, type: 'DYNAMIC' }));
}

async function countEvents(slug: string): Promise<{ events: number; contacts: number }> {
  const { rows } = await sql<{ events: number; contacts: number }>`
    SELECT count(*) AS events, count(DISTINCT contact_id) AS contacts FROM events
    WHERE project_id = ${projectId} AND name = ${`segment.${slug}.entry`}`.execute(database.db);
  return rows[0] ?? { events: 0, contacts: 0 };
}

it('an interrupted computation is finished by the next one, with one event for each entry', async () => {
  const { id, slug } = await createSegment('cut');
  const options = { projectId, segmentId: id };
  const failAfterPage = () => {
    throw new Error('killed after the first page');
  };
  await expect(computeSegment(database.db, { ...options, onPage: failAfterPage })).rejects.toThrow('killed');
  expect(await countEvents(slug)).toEqual({ events: 1_000, contacts: 1_000 });
  expect(await computeSegment(database.db, options)).toEqual({ added: 1_500, removed: 0, total: CONTACTS });
  expect(await countEvents(slug)).toEqual({ events: CONTACTS, contacts: CONTACTS });
});

it('concurrent computations and deletions of contacts neither lose nor repeat an event, and leave no member of a deleted contact', async () => {
  const { id, slug } = await createSegment('busy');
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM contacts WHERE project_id = ${projectId} AND data->>'tag' = 'busy' ORDER BY id DESC LIMIT 200`.execute(
    database.db,
  );
  // The contacts are deleted a few at a time, because a query fails if it gets no connection within ten seconds.
  const deletions = [0, 1, 2, 3].map(async (lane) => {
    for (const [n, row] of rows.entries()) {
      if (n % 4 !== lane) continue;
      await inTransaction(database.db, (trx) => deleteContacts(trx, { projectId, ids: [row.id], suppressionKey }));
    }
  });
  const computations = [1, 2, 3].map(() => computeSegment(database.db, { projectId, segmentId: id }));
  await Promise.all([...deletions, ...computations]);
  const { total } = await computeSegment(database.db, { projectId, segmentId: id });
  expect(total).toBe(CONTACTS - 200);
  const eventCounts = await sql<{ n: number }>`
    SELECT count(*) AS n FROM events WHERE project_id = ${projectId} AND name = ${`segment.${slug}.entry`}
      AND contact_id IN (SELECT id FROM contacts) GROUP BY contact_id`.execute(database.db);
  expect(eventCounts.rows.map((row) => row.n)).toEqual(Array(CONTACTS - 200).fill(1));
  const orphans = await sql`
    SELECT FROM segment_members m WHERE segment_id = ${id}
      AND NOT EXISTS (SELECT FROM contacts c WHERE c.id = m.contact_id)`.execute(database.db);
  expect(orphans.rows).toHaveLength(0);
});

it('the total of a page is counted exactly while counting is cheap, also if the stored count is outdated', async () => {
  const segment = await createSegment('page');
  expect(await refreshMemberCount(database.db, segment)).toBe(CONTACTS);
  await sql`DELETE FROM contacts WHERE project_id = ${projectId} AND email = '7.page@example.com'`.execute(database.db);
  const { items, total } = await listSegmentContacts(database.db, segment, { page: 2, pageSize: 100 });
  expect([items.length, total]).toEqual([100, CONTACTS - 1]);
});
