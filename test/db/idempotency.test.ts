import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withIdempotency } from '../../db/idempotency.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const projectId = uuidv7();
const owner = { name: 'key:1', public: false, scopes: new Set<string>() };

/** Runs `effect` as a request with an idempotency key. */
async function runRequest(key: string | undefined, effect: () => Promise<string>) {
  return database.db.transaction().execute((trx) =>
    withIdempotency(trx, { projectId, key, owner, request: 'POST /v1/track', fingerprint: 'same' }, async () => ({
      statusCode: 200,
      response: { event: await effect() },
    })),
  );
}

describe('an Idempotency-Key', () => {
  it('takes effect once for many concurrent requests, and shows the others the response of the first', async () => {
    let effects = 0;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 6 }, () =>
        runRequest('many', async () => {
          effects += 1;
          return 'e1';
        }),
      ),
    );
    expect(effects).toBe(1);
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).toHaveLength(5);
    expect(refused[0]?.reason).toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
      details: {
        key: 'many',
        originalRequest: 'POST /v1/track',
        originalRequestAt: expect.stringMatching(/^\d{4}-/),
        originalStatusCode: 200,
        sameRequest: true,
        originalResponse: { event: 'e1' },
      },
    });
  });

  it('can be used again if the first request failed, also by a request that waited for the first', async () => {
    let fail: () => void = () => {};
    const gate = new Promise<never>((_, reject) => {
      fail = () => reject(new Error('no'));
    });
    let started: () => void = () => {};
    const running = new Promise<void>((resolve) => {
      started = resolve;
    });
    const first = runRequest('retry', () => {
      started();
      return gate;
    });
    await running;
    const second = runRequest('retry', async () => 'second');
    fail();
    await expect(first).rejects.toThrow('no');
    expect(await second).toEqual({ statusCode: 200, response: { event: 'second' } });
  });

  it('is refused again for 24 hours, but not in another project; requests without a key are never refused', async () => {
    await runRequest('old', async () => 'first');
    await expect(runRequest('old', async () => 'second')).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
    await database.db
      .updateTable('idempotency_keys')
      .set({ created_at: new Date(Date.now() - 24 * 3600_000 - 1000) })
      .where('key', '=', 'old')
      .execute();
    expect((await runRequest('old', async () => 'third')).response).toEqual({ event: 'third' });
    expect((await runRequest(undefined, async () => 'none')).response).toEqual({ event: 'none' });
    await database.db.transaction().execute((trx) =>
      withIdempotency(trx, { projectId: uuidv7(), key: 'old', owner, request: 'POST /v1/send' }, async () => ({
        statusCode: 200,
        response: {},
      })),
    );
  });
});
