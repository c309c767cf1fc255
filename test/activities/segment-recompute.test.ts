import { MockActivityEnvironment } from '@temporalio/testing';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { maintenanceActivities } from '../../activities/maintenance.ts';
import { insertSegment } from '../../db/segments/segments.ts';
import { inTransaction } from '../../db/transaction.ts';
import { parseCondition } from '../../rules/filters/filters.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let activities: ReturnType<typeof maintenanceActivities>;

beforeAll(async () => {
  database = await createTestDatabase();
  const lifecycle = { dispatch: () => {} };
  const log = pino({ level: 'silent' });
  activities = maintenanceActivities({ db: database.db, lifecycle, log } as unknown as ActivityDeps);
});
beforeEach(() => sql`DELETE FROM segments`.execute(database.db));
afterAll(() => database?.drop());

const newProject = async () => (await buildProject(database.db, 'One')).id;
async function buildSegment(projectId: string, name: string): Promise<string> {
  const conditions = [{ field: 'data.tag', operator: 'equals', value: name }];
  const condition = parseCondition({ operator: 'AND', conditions });
  const segment = { projectId, name, description: null, condition, trackMembership: true, type: 'DYNAMIC' as const };
  return (await inTransaction(database.db, (trx) => insertSegment(trx, segment))).id;
}
/** Names of computed segments, in the order in which they were. */
async function computed(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT name FROM segments WHERE computed_at IS NOT NULL ORDER BY computed_at`.execute(database.db);
  return rows.map((row) => row.name);
}
/** Runs something while a segment is held, as by a computation that takes long. */
async function whileHeld(id: string, work: () => Promise<void>): Promise<void> {
  await database.db.transaction().execute(async (trx) => {
    await sql`SELECT FROM segments WHERE id = ${id} FOR UPDATE`.execute(trx);
    await work();
  });
}

it("a segment that takes long holds up its own project's segments and nobody else's", async () => {
  const [large, small] = [await newProject(), await newProject()];
  const [held] = [await buildSegment(large, 'large 1'), await buildSegment(large, 'large 2')];
  for (const name of ['small 1', 'small 2']) await buildSegment(small, name);
  let round: Promise<number> | undefined;
  await whileHeld(held ?? '', async () => {
    round = new MockActivityEnvironment().run(activities.recomputeSegments);
    await until(async () => (await computed()).length === 2, "the other project's segments");
    expect(await computed()).toEqual(['small 1', 'small 2']);
  });
  expect(await round).toBe(4);
  expect(await computed()).toHaveLength(4);
});

it('what was computed longest ago comes first', async () => {
  const projectId = await newProject();
  for (const name of ['a', 'b', 'c']) await buildSegment(projectId, name);
  await sql`UPDATE segments SET computed_at = now() - interval '1 hour' WHERE name = 'a'`.execute(database.db);
  await sql`UPDATE segments SET computed_at = now() - interval '2 hours' WHERE name = 'b'`.execute(database.db);
  await new MockActivityEnvironment().run(activities.recomputeSegments);
  expect(await computed()).toEqual(['c', 'b', 'a']);
});

it('an attempt goes on where the one before it ended, and begins with what that one was not at', async () => {
  const projectId = await newProject();
  const [poison, done] = [await buildSegment(projectId, 'poison'), await buildSegment(projectId, 'done')];
  await buildSegment(projectId, 'left');
  const { rows } = await sql<{ now: Date }>`SELECT now()`.execute(database.db);
  await sql`UPDATE segments SET computed_at = now() WHERE id = ${done}`.execute(database.db);
  const heartbeatDetails = { since: rows[0]?.now.toISOString(), underWay: [poison] };
  const environment = new MockActivityEnvironment({ heartbeatDetails, attempt: 2 });
  const heartbeats: unknown[] = [];
  environment.on('heartbeat', (details) => heartbeats.push(details));
  expect(await environment.run(activities.recomputeSegments)).toBe(2);
  expect(await computed()).toEqual(['done', 'left', 'poison']);
  expect(heartbeats[0]).toEqual({ since: rows[0]?.now.toISOString(), underWay: [] });
});

it('a round that is cancelled begins no other segment', async () => {
  const projectId = await newProject();
  const held = await buildSegment(projectId, 'first');
  await buildSegment(projectId, 'second');
  const environment = new MockActivityEnvironment();
  let round: Promise<unknown> | undefined;
  await whileHeld(held, async () => {
    round = environment.run(activities.recomputeSegments).catch((error: unknown) => error);
    await until(async () => {
      const { rows } =
        await sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(
          database.db,
        );
      return rows.length > 0;
    }, 'the computation to wait');
    environment.cancel();
  });
  expect(await round).toBeInstanceOf(Error);
  expect(await computed()).toEqual(['first']);
});
