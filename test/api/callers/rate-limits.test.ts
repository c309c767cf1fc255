import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRateLimits, type RateLimits } from '../../../api/http/rate-limits.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const open: RateLimits[] = [];
function createLimits(perMinute: number): RateLimits {
  const limits = createRateLimits({ db: api.db, perMinute, publicPerMinute: 0, key: Buffer.from('key') });
  open.push(limits);
  return limits;
}
afterAll(() => {
  for (const limits of open) limits.close();
});

async function takeMany(times: number, take: (i: number) => Promise<unknown>): Promise<number> {
  const outcomes = await Promise.allSettled(Array.from({ length: times }, (_, i) => take(i)));
  return outcomes.filter((outcome) => outcome.status === 'fulfilled').length;
}

describe('a rate limit', () => {
  it('allows exactly its number of requests, concurrent or one by one', async () => {
    const limits = createLimits(1000);
    expect(await takeMany(1300, () => limits.takeForProject('all-at-once'))).toBe(1000);
    const few = createLimits(7);
    const states = [];
    for (let i = 0; i < 7; i += 1) states.push(await few.takeForProject('one-by-one'));
    expect(states.map((state) => state?.remaining)).toEqual([6, 5, 4, 3, 2, 1, 0]);
    await expect(few.takeForProject('one-by-one')).rejects.toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      headers: { 'RateLimit-Limit': '7', 'RateLimit-Remaining': '0', 'Retry-After': expect.stringMatching(/^\d+$/) },
    });
  });

  it('counts the requests of all processes together', async () => {
    const processes = [createLimits(300), createLimits(300), createLimits(300)];
    const allowed = await takeMany(900, (i) => (processes[i % 3] ?? createLimits(300)).takeForProject('shared'));
    expect(allowed).toBe(300);
  });

  it('starts again a minute after its first request', async () => {
    const limits = createLimits(2);
    expect(await takeMany(3, () => limits.takeForProject('again'))).toBe(2);
    const later = createLimits(2);
    await api.db
      .updateTable('rate_windows')
      .set({ started_at: new Date(Date.now() - 61_000) })
      .where('subject', '=', 'project again')
      .execute();
    expect(await takeMany(3, () => later.takeForProject('again'))).toBe(2);
  });

  it('a limit of 0 means unlimited, except the limits of the public key and of back-in-stock requests', async () => {
    const limits = createLimits(0);
    expect(await limits.takeForProject('free')).toBeUndefined();
    expect(await takeMany(320, () => limits.takeForPublicAddress('free', '192.0.2.1'))).toBe(300);
    expect(await takeMany(120, () => limits.takeForPublicContact('free', 'Ada@example.com'))).toBe(100);
    expect(await takeMany(25, () => limits.takeForBackInStock('free', '192.0.2.1'))).toBe(20);
    expect(await takeMany(5, () => limits.takeForBackInStock('free', '192.0.2.2'))).toBe(5);
  });
});
