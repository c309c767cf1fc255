import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { PeriodicActivities } from '../../activities/periodic/rounds.ts';
import {
  hasPhoneUpdate,
  listPhoneUpdates,
  requestPhoneUpdate,
  savePhoneUpdate,
  updatePhonesWithinMs,
} from '../../db/sms/phone-updates.ts';
import { inTransaction } from '../../db/transaction.ts';
import { updateProject } from '../../engine/projects/project-changes.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createPeriodicActivities, runPeriodicPart } from '../support/periodic.ts';

const PART = { kind: 'recovery', part: 'phones' } as const;
/** More contacts than one page has. */
const CONTACTS = 450;
let database: TestDatabase;
let activities: PeriodicActivities;
let projectId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  activities = createPeriodicActivities(database.db);
});
afterAll(() => database?.drop());
beforeEach(async () => {
  projectId = (await buildProject(database.db, 'One')).id;
  await sql`
    INSERT INTO contacts (project_id, email, subscribed, data)
    SELECT ${projectId}, 'a' || n || '@example.com', true, jsonb_build_object('phone', '0151 2' || lpad(n::text, 7, '0'))
    FROM generate_series(1, ${CONTACTS}::int) AS n`.execute(database.db);
});

/** Changes the project's country, as if 5 minutes ago. */
async function changeCountry(phoneCountry: string | null, ago = '5 minutes'): Promise<void> {
  await inTransaction(database.db, (trx) => updateProject(trx, { projectId, changes: { phoneCountry } }));
  await sql`UPDATE phone_updates SET changed_at = now() - ${ago}::interval WHERE project_id = ${projectId}`.execute(
    database.db,
  );
}

/** Returns the number of contacts whose number is stored, for each start of a number. */
async function countStored(): Promise<Record<string, number>> {
  const { rows } = await sql<{ start: string; n: number }>`
    SELECT left(phone, 3) AS start, count(*)::int AS n FROM contact_phones WHERE project_id = ${projectId} GROUP BY 1
  `.execute(database.db);
  return Object.fromEntries(rows.map(({ start, n }) => [start, n]));
}

/** Returns true if periodic work has not finished the update of the project. */
const isUnfinished = () => hasPhoneUpdate(database.db, projectId);

it('periodic work parses the numbers of all contacts again after a change of the country', async () => {
  await changeCountry('DE');
  expect(await runPeriodicPart(activities, PART)).toEqual({ cursor: null, failures: [] });
  expect([await countStored(), await isUnfinished()]).toEqual([{ '+49': CONTACTS }, false]);
  await changeCountry(null);
  await runPeriodicPart(activities, PART);
  expect([await countStored(), await isUnfinished()]).toEqual([{}, false]);
});

it('a round continues where the last one stopped, and starts again if the country was changed meanwhile', async () => {
  await changeCountry('DE');
  const stopped = await runPeriodicPart(activities, { ...PART, deadlineMs: 0 });
  expect(stopped.cursor).toBe(projectId);
  expect([await countStored(), await isUnfinished()]).toEqual([{}, true]);
  const key = Buffer.alloc(32);
  const [update] = await listPhoneUpdates(database.db, { settledMs: 0 });
  if (!update) throw new Error('the update is missing');
  const after = await updatePhonesWithinMs(database.db, key, { projectId, ms: 0 });
  await savePhoneUpdate(database.db, { ...update, after });
  expect(await countStored()).toEqual({ '+49': 200 });
  await sql`DELETE FROM contact_phones WHERE project_id = ${projectId}`.execute(database.db);
  await runPeriodicPart(activities, { ...PART, cursor: stopped.cursor });
  expect([await countStored(), await isUnfinished()]).toEqual([{ '+49': CONTACTS - 200 }, false]);

  await changeCountry(null);
  const [old] = await listPhoneUpdates(database.db, { settledMs: 0 });
  if (!old) throw new Error('the update is missing');
  await changeCountry('DE', '4 minutes');
  await savePhoneUpdate(database.db, { ...old, after });
  await savePhoneUpdate(database.db, { ...old, after: null });
  await runPeriodicPart(activities, PART);
  expect([await countStored(), await isUnfinished()]).toEqual([{ '+49': CONTACTS }, false]);
});

it('a change of the last two minutes waits for the next round, because requests with the earlier country may still run', async () => {
  await changeCountry('DE', '1 minute');
  await runPeriodicPart(activities, PART);
  expect([await countStored(), await isUnfinished()]).toEqual([{}, true]);
});

it('a setting that does not change the country causes no work', async () => {
  await changeCountry(null);
  expect(await isUnfinished()).toBe(false);
});

it('numbers that an earlier release left after the field was deleted are removed', async () => {
  await changeCountry('DE');
  await runPeriodicPart(activities, PART);
  await sql`UPDATE contacts SET data = '{}' WHERE project_id = ${projectId}`.execute(database.db);
  // The migration requests an update of each project with phone numbers.
  await inTransaction(database.db, (trx) => requestPhoneUpdate(trx, projectId));
  await sql`UPDATE phone_updates SET changed_at = now() - interval '1 hour' WHERE project_id = ${projectId}`.execute(
    database.db,
  );
  await runPeriodicPart(activities, PART);
  expect(await countStored()).toEqual({});
});
