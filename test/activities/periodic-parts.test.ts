import { MockActivityEnvironment } from '@temporalio/testing';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PeriodicActivities } from '../../activities/periodic/rounds.ts';
import { listRetentionPrunings } from '../../db/housekeeping/retention.ts';
import { listPeriodicWork } from '../../db/operator/periodic-work.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { buildSegment } from '../build/segments.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createPeriodicActivities, KEEP_ALL, runPeriodicPart } from '../support/periodic.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let activities: PeriodicActivities;

beforeAll(async () => {
  database = await createTestDatabase();
  activities = createPeriodicActivities(database.db);
});
beforeEach(() => sql`DELETE FROM segments`.execute(database.db));
afterAll(() => database?.drop());

const createProject = async () => (await buildProject(database.db, 'One')).id;
const createSegment = (projectId: string, name: string) => buildSegment(database.db, { projectId, name });
/** Returns the names of computed segments, in the order of computation. */
async function listComputed(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT name FROM segments WHERE computed_at IS NOT NULL ORDER BY computed_at`.execute(database.db);
  return rows.map((row) => row.name);
}
/** Runs `work` while a transaction locks the segment, as during a long computation. */
async function runWhileLocked(id: string, work: () => Promise<void>): Promise<void> {
  await database.db.transaction().execute(async (trx) => {
    await sql`SELECT FROM segments WHERE id = ${id} FOR UPDATE`.execute(trx);
    await work();
  });
}

async function readDatabaseTime(): Promise<string> {
  const { rows } = await sql<{ now: Date }>`SELECT now()`.execute(database.db);
  return rows[0]?.now.toISOString() ?? '';
}
async function isStatementWaiting(): Promise<boolean> {
  const { rows } =
    await sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(
      database.db,
    );
  return rows.length > 0;
}

describe('computing the tracked segments of a project', () => {
  it('computes one segment after the other, starting with the one computed longest ago', async () => {
    const projectId = await createProject();
    for (const name of ['a', 'b', 'c']) await createSegment(projectId, name);
    await sql`UPDATE segments SET computed_at = now() - interval '1 hour' WHERE name = 'a'`.execute(database.db);
    await sql`UPDATE segments SET computed_at = now() - interval '2 hours' WHERE name = 'b'`.execute(database.db);
    expect(await runPeriodicPart(activities, { kind: 'segments', part: projectId })).toEqual({
      cursor: null,
      failures: [],
    });
    expect(await listComputed()).toEqual(['c', 'b', 'a']);
  });

  it('continues after a killed attempt, and puts the segment that the killed attempt was computing last', async () => {
    const projectId = await createProject();
    const [poison, done] = [await createSegment(projectId, 'poison'), await createSegment(projectId, 'done')];
    await createSegment(projectId, 'left');
    const since = await readDatabaseTime();
    await sql`UPDATE segments SET computed_at = now() WHERE id = ${done}`.execute(database.db);
    const killed = JSON.stringify({ failed: [], underWay: poison });
    const environment = new MockActivityEnvironment({ heartbeatDetails: killed, attempt: 2 });
    const heartbeats: string[] = [];
    environment.on('heartbeat', (details: string) => heartbeats.push(details));
    await runPeriodicPart(activities, { kind: 'segments', part: projectId, since }, environment);
    expect(await listComputed()).toEqual(['done', 'left', 'poison']);
    expect(heartbeats.map((details) => JSON.parse(details).underWay)).toContain(poison);
  });

  it('returns a cursor when its time has run out', async () => {
    const projectId = await createProject();
    for (const name of ['a', 'b']) await createSegment(projectId, name);
    const over = { kind: 'segments', part: projectId, deadlineMs: Date.now() - 1 } as const;
    const { cursor } = await runPeriodicPart(activities, over);
    expect([cursor, await listComputed()]).toEqual([expect.any(String), []]);
    expect(await runPeriodicPart(activities, { kind: 'segments', part: projectId, cursor })).toMatchObject({
      cursor: null,
    });
    expect(await listComputed()).toEqual(['a', 'b']);
  });

  it('continues when a segment fails, names the segment, and stores its error for the operator', async () => {
    const projectId = await createProject();
    const broken = await createSegment(projectId, 'broken');
    await createSegment(projectId, 'well');
    await sql`
      CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'broken segment'; END $$
    `.execute(database.db);
    await sql`
      CREATE TRIGGER refuse BEFORE UPDATE ON segments FOR EACH ROW WHEN (OLD.name = 'broken') EXECUTE FUNCTION refuse()
    `.execute(database.db);
    try {
      const { failures } = await runPeriodicPart(activities, { kind: 'segments', part: projectId });
      expect(failures).toEqual([`segment ${broken}`]);
      expect(await listComputed()).toEqual(['well']);
      const segmentWork = (await listPeriodicWork(database.db)).find(({ kind }) => kind === 'segments');
      expect(segmentWork?.lastError).toContain('broken segment');
    } finally {
      await sql`DROP TRIGGER refuse ON segments`.execute(database.db);
    }
  });

  it('starts no other segment after a cancellation, and frees its slot while a statement still hangs', async () => {
    const projectId = await createProject();
    const held = await createSegment(projectId, 'first');
    await createSegment(projectId, 'second');
    const environment = new MockActivityEnvironment();
    const input = { kind: 'segments', part: projectId } as const;
    await runWhileLocked(held, async () => {
      const part = runPeriodicPart(activities, input, environment).catch((error: unknown) => error);
      await until(isStatementWaiting, 'the computation to wait');
      environment.cancel();
      expect(await part).toBeInstanceOf(Error);
      await expect(runPeriodicPart(activities, input)).rejects.toThrow('an earlier attempt still runs in this process');
    });
    await until(async () => (await listComputed()).length === 1, 'the statement that was held');
    await until(
      () =>
        runPeriodicPart(activities, input).then(
          () => true,
          () => false,
        ),
      'a new attempt',
    );
    expect((await listComputed()).sort()).toEqual(['first', 'second']);
  });
});

describe('pruning a table', () => {
  it('continues after the last row that a killed attempt read', async () => {
    const projectId = await createProject();
    const createIdAt = (daysAgo: number) => {
      const hex = (Date.now() - daysAgo * 86_400_000).toString(16).padStart(12, '0');
      return `${hex.slice(0, 8)}-${hex.slice(8)}${uuidv7().slice(13)}`;
    };
    const ids = [40, 39, 38, 37].map(createIdAt);
    for (const id of ids) {
      await sql`INSERT INTO audit_log (id, project_id, action, actor) VALUES (${id}, ${projectId}, 'a', 'b')`.execute(
        database.db,
      );
    }
    const prune = listRetentionPrunings({ ...KEEP_ALL, auditLogDays: 30 }, 1).audit_log;
    const cursors: string[] = [];
    const after = await prune?.(database.db, {
      after: ids[0] ?? null,
      mayContinue: (cursor) => {
        cursors.push(cursor);
        return cursors.length < 2;
      },
    });
    expect([after, cursors]).toEqual([ids[2], ids.slice(1, 3)]);
    const { rows } = await sql<{ id: string }>`SELECT id FROM audit_log ORDER BY id`.execute(database.db);
    expect(rows.map(({ id }) => id)).toEqual([ids[0], ids[3]]);
  });
});

describe('events older than their retention', () => {
  it('stay until the statistics of their hour are stored, so statistics that are stored late still count them', async () => {
    const projectId = await createProject();
    const at = Date.now() - 10 * 86_400_000;
    const hex = at.toString(16).padStart(12, '0');
    const id = `${hex.slice(0, 8)}-${hex.slice(8)}${uuidv7().slice(13)}`;
    await sql`INSERT INTO events (id, project_id, name, data) VALUES (${id}, ${projectId}, 'old', '{}')`.execute(
      database.db,
    );
    const prune = listRetentionPrunings({ ...KEEP_ALL, eventDays: 5 }).events;
    const countEvents = async () =>
      (await sql`SELECT FROM events WHERE project_id = ${projectId}`.execute(database.db)).rows.length;
    await sql`UPDATE mail_hours_until SET hour = ${Math.floor(at / 3_600_000)}`.execute(database.db);
    await prune?.(database.db, { after: null, mayContinue: () => true });
    expect(await countEvents()).toBe(1);
    await sql`UPDATE mail_hours_until SET hour = hour + 1`.execute(database.db);
    await prune?.(database.db, { after: null, mayContinue: () => true });
    expect(await countEvents()).toBe(0);
  });
});

describe('a round of periodic work', () => {
  it('continues after the part at which the previous round ran out of time, and runs failing parts last', async () => {
    const projects = [];
    for (const name of ['a', 'b', 'c', 'd']) {
      const projectId = await createProject();
      projects.push(projectId);
      await createSegment(projectId, name);
    }
    const [a, b, c, d] = projects.sort() as [string, string, string, string];
    const { round, ...first } = await activities.listPeriodicParts({ kind: 'segments' });
    expect(first).toMatchObject({ parts: [a, b, c, d], isLast: true, lanes: 3 });
    expect(round).toMatchObject({ total: 4, start: null, last: [] });
    const end = { kind: 'segments', since: round.since, unfinished: 2, resumeAfter: b } as const;
    await activities.endPeriodicRound({ ...end, failing: [], late: [d] });
    const next = await activities.listPeriodicParts({ kind: 'segments' });
    expect(next.parts).toEqual([c, a, b]);
    expect(next.round.last).toEqual([d]);
    const segmentWork = (await listPeriodicWork(database.db)).find(({ kind }) => kind === 'segments');
    expect(segmentWork?.lastError).toBe(`Not finished within the round: ${d}`);
  });
});
