import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connect, type Db } from '../../db/connection.ts';
import { takeMonthlyAllowance } from '../../db/sending/monthly-usage.ts';
import { getSendRate, returnSendTokens, type SendOrder, takeSendTokens } from '../../db/sending/send-rate.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let projectId: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  projectId = (await buildProject(database.db, 'Rate')).id;
});

const takeTokens = (n: number, ratePerSecond: number, order: SendOrder = 'campaign', db: Db = database.db) =>
  takeSendTokens(db, { projectId, n, ratePerSecond, order });

/** Asks for a token for a workflow's email again, at the time that the first request returned. */
const retryWorkflowToken = (ratePerSecond: number) =>
  takeSendTokens(database.db, { projectId, n: 1, ratePerSecond, order: 'workflow', isRepeated: true });

/** Returns the latest time at which a waiting email of a workflow must ask again, in milliseconds since 1970. */
async function readLastRetryTime(): Promise<number> {
  const { rows } = await sql<{ ms: number }>`
    SELECT extract(epoch FROM workflow_line_at)::float8 * 1000 AS ms FROM send_buckets WHERE project_id = ${projectId}
  `.execute(database.db);
  return rows[0]?.ms ?? 0;
}

/** Makes the bucket and its marks of waiting emails older by this time. */
async function ageBucket(seconds: number): Promise<void> {
  const by = sql`${seconds}::float8 * interval '1 second'`;
  await sql`
    UPDATE send_buckets SET refilled_at = refilled_at - ${by}, singles_wait_until = singles_wait_until - ${by},
      workflows_wait_until = workflows_wait_until - ${by}, workflow_line_at = workflow_line_at - ${by} WHERE project_id = ${projectId}
  `.execute(database.db);
}

describe('a grant of send-rate tokens', () => {
  it('has the available part of the requested tokens; refused requests do not postpone the retry time', async () => {
    const first = await takeTokens(1_000, 2, 'single');
    expect(first.granted).toBeGreaterThanOrEqual(1);
    for (let n = 0; n < 20; n++) {
      const { granted, retryAfterMs } = await takeTokens(1_000, 2, 'single');
      expect(granted).toBeLessThanOrEqual(2);
      expect(retryAfterMs).toBeGreaterThan(0);
      expect(retryAfterMs).toBeLessThanOrEqual(500);
    }
  });

  it('is immediate for a single email of an idle project, and allows no burst for a new project', async () => {
    expect(await takeTokens(1, 1, 'single')).toEqual({ granted: 1, retryAfterMs: 0 });
    projectId = (await buildProject(database.db, 'New')).id;
    const startedMs = Date.now();
    const { granted } = await takeTokens(1_000, 100, 'single');
    expect(granted).toBeLessThanOrEqual(20 + (100 * (Date.now() - startedMs + 1)) / 1_000);
  });

  it('allows about a second of sending after a pause of any length, and at most 102 % of the limit within a minute', async () => {
    await takeTokens(1_000, 100, 'single');
    await ageBucket(3_600);
    const granted = (await takeTokens(1_000, 100, 'single')).granted;
    expect(granted).toBeGreaterThanOrEqual(100);
    expect(granted + 60 * 100).toBeLessThanOrEqual(1.02 * 60 * 100);
  });

  it('is possible again after the returned retry time', async () => {
    for (const [rate, order] of [
      [1, 'campaign'],
      [3, 'campaign'],
      [14, 'campaign'],
      [500, 'campaign'],
      [14, 'single'],
    ] as const) {
      projectId = (await buildProject(database.db, 'Told')).id;
      const { retryAfterMs } = await takeTokens(1_000, rate, order);
      await ageBucket(retryAfterMs / 1_000);
      expect((await takeTokens(1_000, rate, order)).granted).toBeGreaterThanOrEqual(Math.max(1, Math.floor(rate / 4)));
    }
  });

  it('can be returned, up to the size of the bucket', async () => {
    await takeTokens(1_000, 1, 'single');
    await ageBucket(1.2);
    expect((await takeTokens(1, 1, 'single')).granted).toBe(1);
    await returnSendTokens(database.db, { projectId, n: 1, ratePerSecond: 1 });
    await returnSendTokens(database.db, { projectId, n: 1_000, ratePerSecond: 1 });
    expect((await takeTokens(1_000, 1, 'single')).granted).toBe(1);
  });

  it('has all requested tokens, without a statement, if no limit is set', async () => {
    expect(await takeTokens(1_000_000, 0)).toEqual({ granted: 1_000_000, retryAfterMs: 0 });
    await returnSendTokens(database.db, { projectId, n: 5, ratePerSecond: 0 });
    expect(await database.db.selectFrom('send_buckets').where('project_id', '=', projectId).execute()).toEqual([]);
  });

  it('never exceeds the rate, with any number of concurrent processes', async () => {
    const rate = 200;
    await takeTokens(1_000, rate, 'single');
    await ageBucket(3_600);
    const pools = [1, 2].map(() =>
      connect({ connectionString: database.url, max: 8, applicationName: 'taker', onError: () => {} }),
    );
    const startedMs = Date.now();
    let granted = 0;
    let returned = 0;
    const orders: SendOrder[] = ['single', 'workflow', 'campaign'];
    await Promise.all(
      Array.from({ length: 24 }, async (_, taker) => {
        const db = pools[taker % 2]?.db as Db;
        for (let round = 0; round < 25; round++) {
          const taken = (await takeTokens(1 + ((taker + round) % 9), rate, orders[taker % 3], db)).granted;
          granted += taken;
          if (round % 5 > 0 || taken === 0) continue;
          await returnSendTokens(db, { projectId, n: 1, ratePerSecond: rate });
          returned += 1;
        }
      }),
    );
    const seconds = (Date.now() - startedMs) / 1_000;
    expect(granted).toBeGreaterThanOrEqual(rate);
    expect(granted - returned).toBeLessThanOrEqual(rate * (1.1 + seconds));
    for (const { db } of pools) await db.destroy();
  });
});

describe('priorities within a send rate', () => {
  it('give a single email a token during a campaign', async () => {
    await takeTokens(1_000, 14);
    await ageBucket(3_600);
    expect((await takeTokens(1_000, 14)).granted).toBe(14);
    expect(await takeTokens(1, 14, 'single')).toEqual({ granted: 1, retryAfterMs: 0 });
  });

  it('give workflows and campaigns no tokens while single emails wait', async () => {
    await takeTokens(1_000, 10, 'single');
    const { retryAfterMs } = await takeTokens(1_000, 10, 'single');
    await ageBucket(0.4);
    expect((await takeTokens(1, 10, 'workflow')).granted).toBe(0);
    expect(await takeTokens(1, 10, 'campaign')).toMatchObject({ granted: 0, retryAfterMs: expect.any(Number) });
    expect(retryAfterMs).toBeLessThanOrEqual(400);
    expect((await takeTokens(4, 10, 'single')).granted).toBe(4);
  });

  it('give campaigns no tokens while emails of workflows wait, and send single emails', async () => {
    await takeTokens(1_000, 10, 'workflow');
    await ageBucket(0.4);
    expect((await takeTokens(1, 10, 'campaign')).granted).toBe(0);
    expect((await takeTokens(1, 10, 'single')).granted).toBe(1);
    expect((await retryWorkflowToken(10)).granted).toBe(1);
  });

  it('stop waiting for emails that no longer request tokens, a moment after the time that these emails would take', async () => {
    await takeTokens(1_000, 10, 'single');
    await takeTokens(4, 10, 'single');
    await ageBucket(10);
    expect((await takeTokens(4, 10, 'campaign')).granted).toBe(4);
    // Refused single emails delay campaigns for about 5 s, whatever the number of refused emails.
    await takeTokens(100_000, 10, 'single');
    await ageBucket(5.1);
    expect((await takeTokens(4, 10, 'campaign')).granted).toBe(4);
  });

  it('give a campaign that waits for single emails a time to ask again', async () => {
    await takeTokens(1_000, 10, 'single');
    const { retryAfterMs } = await takeTokens(1, 10, 'campaign');
    await ageBucket(retryAfterMs / 1_000);
    expect((await takeTokens(1, 10, 'campaign')).granted).toBe(1);
  });
});

describe('emails of workflows that wait for a send rate', () => {
  it('get tokens in order, each when it asks again at its time', async () => {
    await takeTokens(1_000, 10, 'single');
    await ageBucket(10);
    await takeTokens(1_000, 10, 'single'); // The bucket is empty, and the marks of single emails expire soon.
    await ageBucket(5.5);
    await sql`UPDATE send_buckets SET tokens = 0, refilled_at = clock_timestamp()`.execute(database.db);
    const instants: number[] = [];
    for (let n = 0; n < 50; n++) {
      expect((await takeTokens(1, 10, 'workflow')).retryAfterMs).toBeGreaterThan(0);
      instants.push(await readLastRetryTime());
    }
    expect(instants).toEqual([...new Set(instants)].toSorted((a, b) => a - b));
    expect((instants.at(-1) ?? 0) - (instants[0] ?? 0)).toBeGreaterThan(4_000);
    await ageBucket(0.25);
    expect((await retryWorkflowToken(10)).granted).toBe(1);
    expect((await retryWorkflowToken(10)).granted).toBe(1);
  });

  it('are served after earlier emails if they ask for the first time', async () => {
    await takeTokens(1_000, 10, 'workflow');
    await ageBucket(0.5);
    expect((await takeTokens(1, 10, 'workflow')).granted).toBe(0);
    expect((await retryWorkflowToken(10)).granted).toBe(1);
  });

  it('are not blocked by earlier emails that no longer ask', async () => {
    await takeTokens(100_000, 10, 'workflow');
    await ageBucket(60); // No email asked for a token in this minute, so the bucket is full.
    expect((await takeTokens(1, 10, 'workflow')).granted).toBe(1);
    expect((await takeTokens(1, 10, 'workflow')).granted).toBe(1);
  });
});

it('the lower of a project’s and an operator’s send rate applies', async () => {
  expect(await getSendRate(database.db, { projectId, installationRate: 0 })).toBe(0);
  await database.db.updateTable('projects').set({ send_rate_per_second: 20 }).where('id', '=', projectId).execute();
  expect(await getSendRate(database.db, { projectId, installationRate: 0 })).toBe(20);
  expect(await getSendRate(database.db, { projectId, installationRate: 5 })).toBe(5);
});

it('the monthly limit accepts emails up to the limit, and concurrent requests never exceed it', async () => {
  const taken = await Promise.all(
    Array.from({ length: 30 }, () => takeMonthlyAllowance(database.db, { projectId, n: 3, limit: 50 })),
  );
  expect(taken.filter(Boolean)).toHaveLength(16);
  expect(await takeMonthlyAllowance(database.db, { projectId, n: 2, limit: 50 })).toBe(true);
  expect(await takeMonthlyAllowance(database.db, { projectId, n: 1, limit: 50 })).toBe(false);
  expect(await takeMonthlyAllowance(database.db, { projectId, n: 1, limit: null })).toBe(true);
});
