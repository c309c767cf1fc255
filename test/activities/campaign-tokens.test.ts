import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCampaignTokens } from '../../activities/campaigns/tokens.ts';
import { takeSendTokens } from '../../db/sending/send-rate.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

it('a turn that is stopped while it requests tokens does not wait for tokens', async () => {
  const { db } = database;
  const { id: projectId } = await buildProject(db, 'Paced');
  // The next token comes after more than a second and a half.
  const ratePerSecond = 0.6;
  await takeSendTokens(db, { projectId, n: 1, ratePerSecond, order: 'campaign' });
  const stopping = new AbortController();
  const tokens = createCampaignTokens({
    db,
    projectId,
    ratePerSecond,
    stop: stopping.signal,
    untilMs: Date.now() + 60_000,
    isHalted: () => {
      const isHalted = stopping.signal.aborted;
      // The stop comes after this check, during the request.
      stopping.abort();
      return isHalted;
    },
  });
  const sinceMs = Date.now();
  expect(await tokens.take(1)).toBe(0);
  expect(tokens.retryAfterMs).toBeGreaterThan(1_500);
  expect(Date.now() - sinceMs).toBeLessThan(tokens.retryAfterMs ?? 0);
});
