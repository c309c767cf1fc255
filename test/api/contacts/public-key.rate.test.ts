import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../../support/api.ts';

const PUBLIC_PER_MINUTE = 40;
const PER_MINUTE = 30;
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({
    RATE_LIMIT_PER_MINUTE: String(PER_MINUTE),
    PUBLIC_RATE_LIMIT_PER_MINUTE: String(PUBLIC_PER_MINUTE),
  });
});
afterAll(() => api.close());

const track = (key: string, n: number) =>
  api.call('POST', '/v1/track', { key, body: { email: `p${n}@example.com`, event: 'seen' } });

describe('requests by the public key', () => {
  it("have a separate rate limit, and do not count toward the project's limit", async () => {
    const statuses = [];
    for (let n = 0; n < PUBLIC_PER_MINUTE + 1; n += 1) statuses.push(await track(api.one.publicKey, n));
    expect(statuses.map(({ status }) => status)).toEqual([...Array(PUBLIC_PER_MINUTE).fill(200), 429]);
    const refused = statuses.at(-1);
    expect(refused?.body.error).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', details: { limit: PUBLIC_PER_MINUTE } });
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(statuses[0]?.headers.get('ratelimit-limit')).toBe(String(PUBLIC_PER_MINUTE));
    for (let n = 0; n < PER_MINUTE; n += 1) expect((await track(api.one.secretKey, n)).status).toBe(200);
    expect((await track(api.one.secretKey, 0)).status).toBe(429);
  });
});
