import { afterAll, beforeAll, expect, test } from 'vitest';
import { getSendRate, takeSendTokens } from '../../db/send-rate.ts';
import { takeMonthlyAllowance } from '../../db/usage.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let projectId: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('a second of sends goes at once, what is taken beyond it waits its turn', async () => {
  projectId = (await buildProject(database.db, 'Rate')).id;
  const take = (n: number) => takeSendTokens(database.db, projectId, n, 100);
  expect(await take(100)).toEqual({ waitMs: 0 });
  const first = (await take(50)).waitMs;
  const second = (await take(100)).waitMs;
  expect(first).toBeGreaterThan(300);
  expect(first).toBeLessThanOrEqual(500);
  expect(second - first).toBeGreaterThan(800);
  expect(second - first).toBeLessThanOrEqual(1_000);
});

test('takers at the same time never share a turn', async () => {
  projectId = (await buildProject(database.db, 'Rate')).id;
  const waits = await Promise.all(
    Array.from({ length: 20 }, () => takeSendTokens(database.db, projectId, 10, 10).then(({ waitMs }) => waitMs)),
  );
  waits.sort((a, b) => a - b);
  // Ten a second: the twentieth group of ten leaves nineteen seconds after the first, less what the test took.
  expect(waits[0]).toBe(0);
  expect(waits.at(-1)).toBeGreaterThan(17_000);
});

test('without a limit nothing is counted; of two limits the lower holds', async () => {
  projectId = (await buildProject(database.db, 'Rate')).id;
  expect(await takeSendTokens(database.db, projectId, 1_000_000, 0)).toEqual({ waitMs: 0 });
  expect(await getSendRate(database.db, projectId, 0)).toBe(0);
  await database.db.updateTable('projects').set({ send_rate_per_second: 20 }).where('id', '=', projectId).execute();
  expect(await getSendRate(database.db, projectId, 0)).toBe(20);
  expect(await getSendRate(database.db, projectId, 5)).toBe(5);
});

test('the month has room for what fits, and concurrent takers never pass the limit', async () => {
  projectId = (await buildProject(database.db, 'Usage')).id;
  const taken = await Promise.all(
    Array.from({ length: 30 }, () => takeMonthlyAllowance(database.db, { projectId, n: 3, limit: 50 })),
  );
  expect(taken.filter(Boolean)).toHaveLength(16);
  expect(await takeMonthlyAllowance(database.db, { projectId, n: 2, limit: 50 })).toBe(true);
  expect(await takeMonthlyAllowance(database.db, { projectId, n: 1, limit: 50 })).toBe(false);
  expect(await takeMonthlyAllowance(database.db, { projectId, n: 1, limit: null })).toBe(true);
});
