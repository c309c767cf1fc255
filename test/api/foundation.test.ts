import { createRoute, z } from '@hono/zod-openapi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

describe('every answer', () => {
  it('carries the request id of the caller, or a new one', async () => {
    const own = await api.call('GET', '/health', { headers: { 'x-request-id': 'mine-1' } });
    expect(own.headers.get('x-request-id')).toBe('mine-1');
    const made = await api.call('GET', '/nowhere', { headers: { 'x-request-id': 'x'.repeat(129) } });
    expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(made.body.error.requestId).toBe(made.headers.get('x-request-id'));
    expect(made.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('tells an unknown path from a wrong method', async () => {
    expect((await api.call('GET', '/nowhere')).body.error.code).toBe('NOT_FOUND');
    const wrong = await api.call('DELETE', '/health');
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(wrong.body.error.code).toBe('METHOD_NOT_ALLOWED');
  });
});

void createRoute;
void z;
